/**
 * `megabytes` formats a number of bytes in megabytes, for the progress of `dirspace import` and
 * `export`, and `unescaped` reads a delimiter that is typed as `\t` or `tab`, because a tab is hard
 * to type.
 */

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Reads `\t` and `tab` as a tab, which is hard to type. */
export const unescaped = (text: string | undefined): string | undefined =>
  text === '\\t' || text === 'tab' ? '\t' : text;
