/**
 * Two helpers of the commands `import` and `export`. `megabytes` formats a number of bytes.
 * `unescaped` reads the words for a tab, such as `\t`, because a tab is hard to type.
 */

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Reads `\t` and `tab` as a tab, which is hard to type. */
export const unescaped = (text: string | undefined): string | undefined =>
  text === '\\t' || text === 'tab' ? '\t' : text;
