/** Runs beside each test file, and removes the temporary folders that it made, after its own hooks. */
import { afterAll } from 'vitest';
import { removeTemporaryFolders } from './temporary.ts';

afterAll(removeTemporaryFolders);
