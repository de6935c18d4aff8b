/**
 * Two writers of a table with tags and branches, dirspace in its own process and LanceDB over REST, while pylance
 * removes old versions: `checkReferences(options)`. At the end each tag, branch and version has to hold what its
 * writer knows, read by dirspace, LanceDB and pylance.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const here = import.meta.dirname;

/** What a script prints, once it has ended well. Its warnings of conflicts are many. */
async function output(command, args, stdin = 'ignore') {
  const child = spawn(command, args, { stdio: [stdin, 'pipe', 'pipe'] });
  let [text, said] = ['', ''];
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  child.stderr.on('data', (piece) => {
    said = `${said}${piece}`.slice(-4000);
  });
  const ended = once(child, 'exit').then(([status]) => {
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${said}`);
    return text;
  });
  return stdin === 'pipe' ? { stop: () => child.stdin.end(), ended } : ended;
}

const inOrder = (ids) => ids.toSorted((one, other) => one - other);
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param served serves a root while a function runs, which gets its address
 * @param steps of each of the two writers
 * @returns whether anything was wrong
 */
export async function checkReferences({ python, lancedb, entry, place, served, steps, seed }) {
  const root = join(place, 'references');
  const name = 'both';
  const node = (script, ...given) => output(process.execPath, [join(here, script), ...given]);
  await node('write-tables.mjs', entry, root, 'make', name);
  const wrong = [];
  await served(root, async (uri) => {
    const sides = { dirspace: `own,${entry},${root}`, LanceDB: `lancedb,${lancedb},${uri}` };
    const pruning = await output(python, [join(here, 'prune.py'), uri, name], 'pipe');
    const known = await Promise.all(
      Object.values(sides).map(async (side, at) => {
        const given = [name, String(steps), String(Number(seed) * 2 + at)];
        return JSON.parse(await node('references.mjs', side, 'write', ...given));
      }),
    ).finally(pruning.stop);
    process.stdout.write(await pruning.ended);
    const cli = join(here, '../../../dist/cli/main.js');
    // Tags that LanceDB moved last are those of the table from now on.
    await output(process.execPath, [cli, 'lance', 'sync', name, '--root', root]);
    const readers = {
      pylance: await output(python, [join(here, 'read_references.py'), uri, name]),
    };
    for (const [reader, side] of Object.entries(sides))
      readers[reader] = await node('references.mjs', side, 'read', name);
    const found = Object.entries(readers).map(([reader, text]) => [reader, JSON.parse(text)]);
    const own = found.find(([reader]) => reader === 'dirspace')[1];
    const main = inOrder([...Array(1000).keys(), ...known.flatMap((each) => each.main)]);
    const tags = Object.assign({}, ...known.map((each) => each.tags));
    const branches = Object.assign({}, ...known.map((each) => each.branches));
    for (const [reader, { main: rows, tags: named, branches: heads, versions }] of found) {
      if (!isSame(rows, main)) wrong.push(`${reader}: the rows of main`);
      for (const [tag, { ids }] of Object.entries(tags))
        if (!isSame(named[tag], ids)) wrong.push(`${reader}: the tag ${tag}`);
      for (const [branch, ids] of Object.entries(branches))
        if (!isSame(heads[branch], inOrder(ids))) wrong.push(`${reader}: the branch ${branch}`);
      // A client of Lance lists those that it did not prune.
      for (const [version, ids] of Object.entries(versions))
        if (!isSame(own.versions[version], ids)) wrong.push(`${reader}: version ${version}`);
    }
    const counts = {};
    for (const each of known)
      for (const [what, count] of Object.entries(each.counts))
        counts[what] = (counts[what] ?? 0) + count;
    const sizes = [tags, branches, own.versions].map((each) => Object.keys(each).length);
    console.log(
      `two writers with tags and branches: ${JSON.stringify(counts)}; read by three: ${sizes[0]} tags, ${sizes[1]} branches, ${sizes[2]} versions, ${wrong.length} differ`,
    );
    for (const what of wrong.slice(0, 20)) console.log(`FAILED ${what}`);
  });
  return wrong.length > 0;
}
