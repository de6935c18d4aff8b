#!/usr/bin/env node
/**
 * The executable of the command line: switches on the compile cache, then imports and runs the
 * program. Node caches only what is compiled after the switch, so this file imports little itself.
 */
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
const { runProcess } = await import('./process.ts');
await runProcess();
