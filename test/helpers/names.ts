/** Names that file systems, Windows and the engine itself have ideas about. */
const ALPHABET = [...'aAzZ09_-.ntcoOxd'];
const DEVICES = [
  ...['con', 'CON', 'Nul.txt', 'aux.', 'com1', 'LPT9.x', 'prn.table', 'conin', 'conout', 'COM'],
  ...['com0', 'lpt0', 'NUL', 'prn', 'AUX.TABLE', 'con.con', 'CoM1.a.b'],
];
const RESERVED = ['data', 'Data', 'data.table', 'a.table', '.table', 'table', '.dirspace', '...'];

export const SPECIAL_NAMES: readonly string[] = [
  ...DEVICES,
  ...RESERVED,
  ...['.', '..', '.tmp-1', '_versions', '-rf', 'latest.json', '.table.json', 'x.TABLE', '.data'],
];

/** Every name of one to three letters of a small alphabet. */
export function* shortNames(): Generator<string> {
  for (const a of ALPHABET) {
    yield a;
    for (const b of ALPHABET) {
      yield a + b;
      for (const c of ALPHABET) yield a + b + c;
    }
  }
}
