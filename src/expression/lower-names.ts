/**
 * A column's name as the user wrote it, read again from the text at the place the grammar gives.
 * It knows how names are quoted, nothing else.
 */

const PART =
  /[ \t\r\n\f]*(?:"((?:[^"]|"")*)"|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*))[ \t\r\n\f]*/y;

/** `names` (folded by the grammar) is the answer where the text does not say the same. */
export function columnPath(text: string, at: number, names: readonly string[]): readonly string[] {
  const path: string[] = [];
  let offset = at;
  for (const name of names) {
    PART.lastIndex = offset;
    const found = PART.exec(text);
    const part = found?.[1]?.replaceAll('""', '"') ?? found?.[2];
    if (part === undefined || !isSame(part.toLowerCase(), name.toLowerCase())) return names;
    path.push(part);
    offset = PART.lastIndex + 1;
  }
  return path;
}

/** The grammar cuts names to 63 bytes, or to fewer where a character would be torn. */
function isSame(written: string, name: string): boolean {
  return written === name || (Buffer.byteLength(name) >= 60 && written.startsWith(name));
}
