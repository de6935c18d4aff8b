/** The commands there are, in the order of the help. */
import type { Command, ServiceCommand } from './command.ts';
import { conformance } from './conformance.ts';
import { createNamespace } from './create-namespace.ts';
import { describe } from './describe.ts';
import { drop } from './drop.ts';
import { head } from './head.ts';
import { importFile } from './import.ts';
import { log } from './log.ts';
import { ls } from './ls.ts';
import { rename } from './rename.ts';
import { serve } from './serve.ts';

export const COMMANDS: readonly (Command | ServiceCommand)[] = [
  ls,
  describe,
  createNamespace,
  importFile,
  head,
  log,
  drop,
  rename,
  serve,
  conformance,
];
