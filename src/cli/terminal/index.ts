/**
 * Exports the parts that the commands share: types of commands and options, parsing of ids and
 * versions, opening the catalog, output, progress, interruption and exit codes.
 */

export {
  type Answer,
  action,
  argument,
  type Call,
  type Command,
  type CommandOption,
  Declined,
  InputError,
  type LineCompletion,
  MissingFile,
  nameFor,
  Options,
  OtherProtocol,
  type RowsAnswer,
  type ServiceCall,
  type ServiceCommand,
  type Surroundings,
  type Terminals,
  UsageError,
} from './command.ts';
export { EXIT, exitCode } from './exit-codes.ts';
export { parseObject, parsePath, type ShowPath, showAsTyped } from './ids.ts';
export { Interrupted, orInterrupted, untilAborted, untilInterrupted } from './interruption.ts';
export { openConnection, serverHeaders } from './open.ts';
export { namesOf, otherOption } from './other-options.ts';
export {
  alignedLine,
  cell,
  columns,
  counted,
  facts,
  shortCell,
  toJson,
  widthsOf,
} from './output.ts';
export { OutputClosed, OutputStream } from './output-stream.ts';
export { withParents } from './parents.ts';
export { showProgress } from './progress.ts';
export { openSelected, versionNumber, versionOf } from './selection.ts';
export { safeJson, visibleLines } from './terminal-text.ts';
export { typeText } from './type-text.ts';
