export { DirspaceError, ERROR_KINDS, type ErrorCode, isDirspaceError } from './errors.ts';
