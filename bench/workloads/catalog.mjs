/** The catalog: creating, opening, listing, dropping, small appends. */
import { connect } from '../../dist/index.js';
import { figure } from '../harness/measure.mjs';
import { ownArrow } from '../harness/stores.mjs';

const SMALL = 10;
const PATH = ['prod', 'search'];

/** Ten rows x (id int64, name utf8, vector float32[4]), as the Arrow release `arrow` makes them. */
export function smallTable(arrow) {
  const {
    Field,
    FixedSizeList,
    Float32,
    Int64,
    Utf8,
    Schema,
    Table,
    RecordBatch,
    makeData,
    Struct,
  } = arrow;
  const vector = new FixedSizeList(4, new Field('item', new Float32(), true));
  const schema = new Schema([
    new Field('id', new Int64(), true),
    new Field('name', new Utf8(), true),
    new Field('vector', vector, true),
  ]);
  const names = Array.from({ length: SMALL }, (_, row) => `name ${row}`);
  const children = [
    arrow.vectorFromArray(
      BigInt64Array.from(names, (_, row) => BigInt(row)),
      new Int64(),
    ).data[0],
    arrow.vectorFromArray(names, new Utf8()).data[0],
    makeData({
      type: vector,
      length: SMALL,
      child: makeData({
        type: new Float32(),
        data: Float32Array.from({ length: 4 * SMALL }, (_, at) => at),
      }),
    }),
  ];
  const data = makeData({ type: new Struct(schema.fields), length: SMALL, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

export async function* catalogWorkloads(ctx) {
  const { folder, peers, size } = ctx;
  const own = {
    full: await connect({ uri: folder('full') }),
    relaxed: await connect({ uri: folder('relaxed'), durability: 'relaxed' }),
  };
  const peer = peers.has('lancedb-ns')
    ? await peers.lancedb.connectNamespace('dir', { root: folder('peer') })
    : undefined;
  for (const connection of [...Object.values(own), ...(peer ? [peer] : [])]) {
    await connection.createNamespace(['prod']);
    await connection.createNamespace(PATH);
  }
  const ownRows = smallTable(ownArrow);
  const peerRows = peers.arrow && smallTable(peers.arrow);
  const goals = (full, relaxed) => [
    ['full', full],
    ['relaxed', relaxed],
  ];

  for (const [mode, goal] of goals(3, 15)) {
    yield {
      name: `create a table in a nested namespace, ${mode}`,
      goal,
      samples: 60,
      block: 10,
      warmups: size(500, size(60) + 2),
      ours: (n) => own[mode].createTable(`t${n}`, ownRows, PATH),
      peer: peer && ((n) => peer.createTable(`t-${mode}-${n}`, peerRows, PATH)),
    };
  }
  const describe = async (connection) => {
    const table = await connection.openTable('t1', PATH);
    await table.schema();
    await table.version();
    await table.countRows();
  };
  await peer?.createTable('t1', peerRows, PATH);
  yield {
    name: 'open + schema + version + count',
    goal: 10,
    samples: 100,
    block: 10,
    warmups: size(200),
    ours: () => describe(own.full),
    peer: peer && (() => describe(peer)),
  };
  for (const [mode, goal] of goals(3, 8)) {
    yield {
      name: `drop a table, ${mode}`,
      goal,
      samples: 50,
      block: 10,
      warmups: size(60),
      ours: (n) => own[mode].dropTable(`t${n + 2}`, PATH),
      peer: peer && ((n) => peer.dropTable(`t-${mode}-${n + 2}`, PATH)),
    };
  }
  for (const [mode, goal] of goals(3, 10)) {
    yield {
      name: `create a namespace, ${mode}`,
      goal,
      samples: 40,
      block: 10,
      warmups: size(60),
      ours: (n) => own[mode].createNamespace(['prod', `n${n}`]),
      peer: peer && ((n) => peer.createNamespace(['prod', `n-${mode}-${n}`])),
    };
  }
  yield {
    name: 'describe a namespace',
    goal: 10,
    samples: 60,
    block: 10,
    ours: () => own.full.describeNamespace(['prod', 'n1']),
    peer: peer && (() => peer.describeNamespace(['prod', 'n-full-1'])),
  };
  for (const [mode, goal] of goals(3, 10)) {
    yield {
      name: `drop a namespace, ${mode}`,
      goal,
      samples: 40,
      block: 10,
      warmups: size(60),
      ours: (n) => own[mode].dropNamespace(['prod', `n${n}`]),
      peer: peer && ((n) => peer.dropNamespace(['prod', `n-${mode}-${n}`])),
    };
  }
  yield* appends(ctx, own, peer, ownRows, peerRows);
  for (let made = 0; made < size(1_000, 3); made++) {
    await own.relaxed.createTable(`l${made}`, ownRows);
    await peer?.createTable(`l${made}`, peerRows);
  }
  yield {
    name: 'list 1,000 tables',
    goal: 40,
    samples: 15,
    block: 5,
    warmups: size(15),
    ours: () => own.relaxed.tableNames(),
    peer: peer && (() => peer.tableNames()),
  };
}

async function* appends({ size, samples }, own, peer, ownRows, peerRows) {
  const tables = {
    full: await own.full.createTable('appended', ownRows),
    relaxed: await own.relaxed.createTable('appended', ownRows),
  };
  for (const [mode, goal] of [
    ['full', 1.3],
    ['relaxed', 4],
  ]) {
    const other = await peer?.createTable(`appended-${mode}`, peerRows);
    let versions = 0;
    yield {
      name: `append 10 rows, versions 100 to 200, ${mode}`,
      goal,
      samples: 100,
      block: 50,
      warmups: size(300),
      ours: async () => {
        await tables[mode].add(ownRows);
        versions++;
      },
      peer: peer && (() => other.add(peerRows)),
    };
    for (; versions < size(560); versions++) await tables[mode].add(ownRows);
    const young = await own[mode].createTable(`young-${mode}`, ownRows);
    yield {
      name: `append at version 600 as quick as at the first, ${mode}`,
      goals: [{ times: 1 / 1.25, against: 'young' }],
      figures: await laterAppends(tables[mode], young, ownRows, Number(samples ?? 100)),
    };
  }
}

/** Both tables in turn: from one minute to the next the machine itself is not as quick as it was. */
async function laterAppends(old, young, rows, samples) {
  const times = new Map([
    [old, []],
    [young, []],
  ]);
  for (let sample = 0; sample < samples; sample++) {
    for (const [table, taken] of times) {
      const start = performance.now();
      await table.add(rows);
      taken.push(performance.now() - start);
    }
  }
  return { ours: figure(times.get(old)), young: figure(times.get(young)) };
}
