#!/usr/bin/env node
/**
 * Starts the command line. The program is imported after the compile cache is switched on: Node
 * keeps what it compiles from then on, so this file loads little itself.
 */
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
const { runProcess } = await import('./process.ts');
await runProcess();
