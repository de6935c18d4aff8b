/**
 * Helps the commands `import` and `export` with text. `megabytes` formats a number of bytes.
 * `unescaped` turns `\t` or `tab` into a tab, which is hard to type.
 */

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Reads `\t` and `tab` as a tab, which is hard to type. */
export const unescaped = (text: string | undefined): string | undefined =>
  text === '\\t' || text === 'tab' ? '\t' : text;
