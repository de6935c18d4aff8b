/**
 * Lists all commands of the command line (`COMMANDS`) in the order in which the help shows them.
 */
import {
  branch,
  createNamespace,
  describe,
  diff,
  drop,
  index,
  log,
  ls,
  rename,
  restore,
  tag,
  trash,
  undrop,
} from './catalog/index.ts';
import {
  addColumns,
  deleteRows,
  exportTable,
  head,
  importFile,
  query,
  updateRows,
} from './rows/index.ts';
import {
  completion,
  conformance,
  lance,
  optimize,
  repair,
  serve,
  ui,
  verify,
} from './service/index.ts';
import type { Command, ServiceCommand } from './terminal/index.ts';

export const COMMANDS: readonly (Command | ServiceCommand)[] = [
  ls,
  describe,
  createNamespace,
  importFile,
  exportTable,
  head,
  query,
  deleteRows,
  updateRows,
  addColumns,
  log,
  diff,
  restore,
  tag,
  branch,
  index,
  rename,
  drop,
  undrop,
  trash,
  optimize,
  verify,
  repair,
  lance,
  serve,
  ui,
  conformance,
  completion(() => COMMANDS),
];
