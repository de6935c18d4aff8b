/** The commands there are, in the order of the help. */
import { branch } from './branch.ts';
import { addColumns, deleteRows, updateRows } from './change-rows.ts';
import type { Command, ServiceCommand } from './command.ts';
import { completion } from './completion.ts';
import { conformance } from './conformance.ts';
import { createNamespace } from './create-namespace.ts';
import { describe } from './describe.ts';
import { drop } from './drop.ts';
import { head } from './head.ts';
import { importFile } from './import.ts';
import { log } from './log.ts';
import { ls } from './ls.ts';
import { optimize } from './optimize.ts';
import { query } from './query.ts';
import { rename } from './rename.ts';
import { repair } from './repair.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { tag } from './tag.ts';
import { trash, undrop } from './trash.ts';
import { verify } from './verify.ts';

export const COMMANDS: readonly (Command | ServiceCommand)[] = [
  ls,
  describe,
  createNamespace,
  importFile,
  head,
  query,
  deleteRows,
  updateRows,
  addColumns,
  log,
  restore,
  tag,
  branch,
  rename,
  drop,
  undrop,
  trash,
  optimize,
  verify,
  repair,
  serve,
  conformance,
  completion(() => COMMANDS),
];
