// Random predicates, each as two texts: ours and DuckDB's. They differ only where the dialects do
// (integer division, `rowid`, function names), never in meaning.

export function generator(seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (n) => Math.floor(random() * n);
  const pick = (list) => list[int(list.length)];
  return { random, int, pick };
}

export const WORDS = [
  '',
  'a',
  'ab',
  'abc',
  'ABC',
  'k01',
  'k02',
  'K03',
  'a%b',
  'a_b',
  'über',
  'naïve',
  '日本',
  '😀x',
  ' pad ',
  'xyzzy',
  "it's",
  'aaa',
  'Zed',
  '10',
];

export const quote = (text) => `'${text.replaceAll("'", "''")}'`;

export function makePredicates({ random, int, pick }) {
  const same = (text) => [text, text];
  const join = (parts) => [
    parts.map((p) => (Array.isArray(p) ? p[0] : p)).join(''),
    parts.map((p) => (Array.isArray(p) ? p[1] : p)).join(''),
  ];

  const integerLiteral = () =>
    pick([
      '0',
      '1',
      '2',
      '-1',
      '-7',
      '13',
      '100',
      '-128',
      '127',
      '1000',
      '70000',
      '2147483647',
      '-2147483648',
    ]);
  const decimalLiteral = () => pick(['0.5', '1.5', '-2.25', '3.0', '99.99', '0.1', '1e2', '-0.01']);

  const integer = (depth) => {
    if (depth <= 0 || random() < 0.4) {
      return random() < 0.65
        ? pick([same('i8'), same('i32'), same('n64'), same('u32'), same('st.a')])
        : same(integerLiteral());
    }
    const a = integer(depth - 1);
    const b = integer(depth - 1);
    const wide = (x) => [x[0], `CAST(${x[1]} AS HUGEINT)`];
    switch (int(9)) {
      case 0:
        return join(['(', wide(a), ' + ', wide(b), ')']);
      case 1:
        return join(['(', wide(a), ' - ', wide(b), ')']);
      case 2:
        return join([
          '(',
          wide(pick([same('i8'), same('i32')])),
          ' * ',
          wide(pick([same('i8'), same('i32'), same('17')])),
          ')',
        ]);
      case 3: {
        const d = pick(['3', '7', '-4', '10']);
        return [`(${a[0]} / ${d})`, `(CAST(${a[1]} AS HUGEINT) // ${d})`];
      }
      case 4: {
        const d = pick(['3', '7', '-4', '10']);
        return join(['(', a, ` % ${d})`]);
      }
      case 5:
        return join(['abs(', wide(a), ')']);
      case 6:
        return join([
          'CASE WHEN ',
          condition(depth - 1),
          ' THEN ',
          wide(a),
          ' ELSE ',
          wide(b),
          ' END',
        ]);
      case 7:
        return join(['coalesce(', wide(a), ', ', wide(b), ')']);
      default:
        return join(['length(', text(depth - 1), ')']);
    }
  };

  const float = (depth) => {
    if (depth <= 0 || random() < 0.45)
      return random() < 0.7
        ? pick([same('f'), same('g')])
        : [decimalLiteral(), ''].map((t, i, l) => (i === 0 ? t : `CAST(${l[0]} AS DOUBLE)`));
    const a = float(depth - 1);
    const b = float(depth - 1);
    switch (int(8)) {
      case 0:
        return join(['(', a, ' + ', b, ')']);
      case 1:
        return join(['(', a, ' - ', b, ')']);
      case 2:
        return join(['(', a, ' * ', b, ')']);
      case 3:
        return join(['(', a, ' / ', pick(['2.0', '0.25', '3.0']), ')']);
      case 4:
        return join(['abs(', a, ')']);
      case 5:
        return join([pick(['floor', 'ceil', 'round']), '(', a, ')']);
      case 6:
        return join(['nullif(', a, ', ', b, ')']);
      default:
        return join([pick(['greatest', 'least']), '(', a, ', ', b, ')']);
    }
  };

  const text = (depth) => {
    if (depth <= 0 || random() < 0.5) {
      return random() < 0.7
        ? pick([same('s'), same('c'), same('dict'), same('st.b')])
        : same(quote(pick(WORDS)));
    }
    const a = text(depth - 1);
    switch (int(8)) {
      case 0:
        return join(['lower(', a, ')']);
      case 1:
        return join(['upper(', a, ')']);
      case 2:
        return join(['trim(', a, ')']);
      case 3:
        return join(['substr(', a, `, ${1 + int(3)}, ${int(4)})`]);
      case 4:
        return join(['(', a, ' || ', text(depth - 1), ')']);
      case 5:
        return join(['coalesce(', a, ', ', text(depth - 1), ')']);
      case 6:
        return join(['CASE WHEN ', condition(depth - 1), ' THEN ', a, ' END']);
      default:
        return join([
          'replace(',
          a,
          ', ',
          quote(pick(['a', 'b', 'x'])),
          ', ',
          quote(pick(['', 'z', 'ab'])),
          ')',
        ]);
    }
  };

  const date = () =>
    pick([
      same('d'),
      same(`date '${pick(['2020-02-29', '1999-12-31', '2024-01-01', '1960-06-15'])}'`),
    ]);
  const time = (depth) => {
    const stamp = pick([
      same('ts'),
      same(
        `timestamp '${pick(['2020-02-29 12:30:00', '1999-12-31 23:59:59.999999', '2024-01-01 00:00:00'])}'`,
      ),
    ]);
    if (depth <= 0 || random() < 0.6) return stamp;
    switch (int(3)) {
      case 0:
        return join([
          '(',
          stamp,
          pick([' + ', ' - ']),
          `interval '${pick(['1 day', '3 months', '90 minutes', '1 year', '10 seconds'])}'`,
          ')',
        ]);
      // Never of a NULL: DuckDB 1.5 takes `date_trunc(.., NULL) <> constant` for true.
      case 1:
        return join([
          `date_trunc('${pick(['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'])}', `,
          'coalesce(',
          stamp,
          ", timestamp '2001-01-01 00:00:00'))",
        ]);
      default:
        return stamp;
    }
  };
  const decimal = (depth) => {
    if (depth <= 0 || random() < 0.6)
      return random() < 0.7
        ? same('dec')
        : [`decimal(8,2) '${pick(['1.25', '-3.10', '0.00', '99.99'])}'`, ''].map((t, i, l) =>
            i === 0 ? t : `CAST(${l[0].slice(12)} AS DECIMAL(8,2))`,
          );
    const a = decimal(depth - 1);
    switch (int(3)) {
      case 0:
        return join(['(', a, pick([' + ', ' - ']), decimal(depth - 1), ')']);
      case 1:
        return join(['(', a, ' * ', same(pick(['2', '-3'])), ')']);
      default:
        return join(['abs(', a, ')']);
    }
  };

  const compare = () => pick(['=', '<>', '<', '<=', '>', '>=', '!=']);
  const not = () => (random() < 0.3 ? 'NOT ' : '');

  const condition = (depth) => {
    if (depth > 0 && random() < 0.45) {
      switch (int(7)) {
        case 0:
        case 1:
          return join(['(', condition(depth - 1), ' AND ', condition(depth - 1), ')']);
        case 2:
        case 3:
          return join(['(', condition(depth - 1), ' OR ', condition(depth - 1), ')']);
        case 4:
          return join(['(NOT ', condition(depth - 1), ')']);
        case 5:
          return join([
            '((',
            condition(depth - 1),
            `) IS ${not()}${pick(['TRUE', 'FALSE', 'NULL'])})`,
          ]);
        default:
          return join([
            '(',
            condition(depth - 1),
            ` IS ${not()}DISTINCT FROM `,
            condition(depth - 1),
            ')',
          ]);
      }
    }
    const d = Math.max(0, depth - 1);
    switch (int(22)) {
      case 0:
      case 1:
        return join(['(', integer(d), ` ${compare()} `, integer(d), ')']);
      case 2: {
        const l = decimalLiteral();
        return join(['(', integer(d), ` ${compare()} `, l.includes('e') ? '100.0' : l, ')']);
      }
      case 3:
      case 4:
        return join(['(', float(d), ` ${compare()} `, float(d), ')']);
      case 5:
        return join(['(', float(d), ` ${compare()} `, integer(0), ')']);
      case 6:
        return join(['(', text(d), ` ${compare()} `, text(d), ')']);
      case 7:
        return join(['(', text(d), ` ${compare()} `, quote(pick(WORDS)), ')']);
      case 8:
        return join(['(', integer(d), ` ${not()}BETWEEN `, integer(0), ' AND ', integer(0), ')']);
      case 9:
        return join(['(', float(d), ` ${not()}BETWEEN `, float(0), ' AND ', float(0), ')']);
      case 10:
        return join([
          '(',
          integer(d),
          ` ${not()}IN (`,
          Array.from({ length: 1 + int(6) }, () =>
            random() < 0.1 ? 'NULL' : integerLiteral(),
          ).join(', '),
          '))',
        ]);
      case 11:
        return join([
          '(',
          text(d),
          ` ${not()}IN (`,
          Array.from({ length: 1 + int(8) }, () =>
            random() < 0.06 ? 'NULL' : quote(pick(WORDS)),
          ).join(', '),
          '))',
        ]);
      case 12: {
        const pattern = pick([
          '%',
          'a%',
          '%b',
          '%a%',
          'a_c',
          '_',
          '%_b%',
          'abc',
          '',
          '%bc',
          '__',
          'k0_',
          '%ü%',
          'A%C',
          '日_',
          '%a%b%',
          '_%',
        ]);
        return join(['(', text(d), ` ${not()}${pick(['LIKE', 'ILIKE'])} `, quote(pattern), ')']);
      }
      case 13:
        return join([
          '(',
          text(d),
          ` ${not()}LIKE `,
          pick(["'a!%b' ESCAPE '!'", "'a!_b' ESCAPE '!'", "'%!%%' ESCAPE '!'"]),
          ')',
        ]);
      case 14:
        return join([
          '(',
          pick([
            integer(d),
            float(d),
            text(d),
            date(),
            decimal(0),
            same('l'),
            same('b'),
            same('st.a'),
          ]),
          ` IS ${not()}NULL)`,
        ]);
      case 15:
        return pick([
          same('b'),
          same('(NOT b)'),
          same('(b = true)'),
          join(['(b ', compare(), ' ', condition(0), ')']),
        ]);
      case 16:
        return join(['(', date(), ` ${compare()} `, date(), ')']);
      case 17:
        return join(['(', time(d), ` ${compare()} `, pick([time(d), date()]), ')']);
      case 18:
        return join([
          '(',
          decimal(d),
          ` ${compare()} `,
          pick([decimal(d), integer(0), same(pick(['1.25', '0.333', '-3.1', '50']))]),
          ')',
        ]);
      case 19:
        return join(['(', integer(d), ` IS ${not()}DISTINCT FROM `, integer(d), ')']);
      case 20:
        return pick([
          join(['array_has(l, ', quote(pick(WORDS)), ')']),
          join(['array_has_any(l, ', `[${quote(pick(WORDS))}, ${quote(pick(WORDS))}]`, ')']),
          join(['array_has_all(l, ', `[${quote(pick(WORDS))}]`, ')']),
          join(['(array_length(l)', ` ${compare()} ${int(4)})`]),
          same(
            `(i64 ${compare()} ${pick(['9007199254740993', '9007199254740992', '-9223372036854775808', '9223372036854775807', '0'])})`,
          ),
          [`(_rowid ${'<'} ${int(200)})`, ''].map((t, i, l) =>
            i === 0 ? t : l[0].replace('_rowid', 'rowid'),
          ),
          join(['starts_with(', text(d), ', ', quote(pick(['a', 'k0', '', 'ü'])), ')']),
          join(['contains(', text(d), ', ', quote(pick(['b', '0', ''])), ')']),
        ]);
      default: {
        const field = pick(['year', 'month', 'day', 'quarter', 'week', 'dow', 'doy', 'isodow']);
        if (random() < 0.3) {
          const p = quote(pick(['^a', 'b$', '[a-c]+', 'k0[12]', 'x|z', '^$', '\\d', '(ab)+']));
          const t = text(d);
          return [`regexp_like(${t[0]}, ${p})`, `regexp_matches(${t[1]}, ${p})`];
        }
        return join([
          `(extract(${field} from `,
          pick([date(), time(0)]),
          `) ${compare()} ${pick(['1', '4', '12', '2020', '1999', '60'])})`,
        ]);
      }
    }
  };
  return { condition, integer, float, text };
}
