#!/usr/bin/env node
/**
 * The executable of the command line: turns on the compile cache, then imports and runs the
 * program. Node caches only code that is loaded afterwards, so this file imports nothing else
 * beforehand.
 */
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
const { runProcess } = await import('./process.ts');
await runProcess();
