/** The part of proper-lockfile 4 that lock.ts uses. */
declare module 'proper-lockfile' {
  interface LockOptions {
    readonly stale: number;
    readonly update: number;
    readonly realpath: false;
    readonly retries: 0;
    readonly fs: object;
    readonly lockfilePath: string;
    onCompromised(error: Error): void;
  }
  const lockfile: {
    lock(file: string, options: LockOptions): Promise<() => Promise<void>>;
  };
  export = lockfile;
}
