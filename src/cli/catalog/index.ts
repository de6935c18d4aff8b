/**
 * Exports the commands about namespaces and tables: their versions, tags, branches, indexes,
 * differences, files and the trash.
 */

export { branch } from './branch.ts';
export { clone } from './clone.ts';
export { createNamespace } from './create-namespace.ts';
export { describe } from './describe.ts';
export { diff } from './diff.ts';
export { drop } from './drop.ts';
export { files } from './files.ts';
export { index } from './index-command.ts';
export { log } from './log.ts';
export { ls } from './ls.ts';
export { rename } from './rename.ts';
export { restore } from './restore.ts';
export { tag } from './tag.ts';
export { trash, undrop } from './trash.ts';
