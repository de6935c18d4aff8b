/**
 * Formats bytes as megabytes (`megabytes`), and reads `\t` and `tab` as a tab (`unescaped`), for
 * the commands `import` and `export`.
 */

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Reads `\t` and `tab` as a tab, which is hard to type. */
export const unescaped = (text: string | undefined): string | undefined =>
  text === '\\t' || text === 'tab' ? '\t' : text;
