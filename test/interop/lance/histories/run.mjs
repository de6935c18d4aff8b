/**
 * Three writers at once of one table with branches and tags: this package, LanceDB's Node client and pylance over REST,
 * with compaction by all and prune by Lance. After each round every version, tag and branch is read by all three and
 * compared with what was acknowledged: `checkHistories(options)`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { History, LASTING, MAIN } from './model.mjs';

const here = import.meta.dirname;

/** A program that answers lines with lines. */
class Side {
  #child;
  #lines;
  name;

  constructor(name, command, args) {
    this.name = name;
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    // Refusals, which the answers tell too.
    this.#child.stderr.on('data', (piece) => {
      if (process.env.VERBOSE !== undefined)
        console.log('STDERR', new Date().toISOString(), String(piece));
      this.said = `${this.said}${piece}`.slice(-4000);
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  said = '';

  /** The answer to a request; `each` takes the lines before it. */
  async ask(request, each = () => {}) {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`${this.name} ended: ${this.said}`);
      const line = JSON.parse(value);
      if (line.done === undefined) each(line);
      else if (line.error !== undefined)
        throw new Error(`${this.name}: ${request.does}: ${line.error}`);
      else return line;
    }
  }

  async end() {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

/** Files of the table that a branch shares, which a prune of the table has to keep for those who open it now. */
const LOST_FILE = /Not found: \S*\/(?:history\.table|opened\/[^/]+)\/(?:_deletions|data)\//;

/** What of a refusal is the same in others. */
const kindOf = (why) =>
  why
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[\w./-]*\/[\w./-]*/g, '…')
    .replaceAll(/\d+/g, 'N')
    .slice(0, 160);

/**
 * @param served serves a root while a function runs, which gets its address
 * @param commits of rows, of all writers together
 * @returns whether anything was wrong
 */
export async function checkHistories({
  python,
  lancedb,
  entry,
  root,
  served,
  commits,
  seed,
  rounds = 5,
}) {
  const first = Array.from({ length: 400 }, (_, id) => [id, `row ${id}`, 0]);
  const history = new History(first);
  const own = new Side('dirspace', process.execPath, [join(here, 'own.mjs'), entry, root, seed]);
  const failures = [];
  let [compared, checks] = [0, 0];
  try {
    await own.ask({ does: 'make', rows: first });
    await served(root, async (uri) => {
      const sides = [new Side('pylance', python, [join(here, 'with_pylance.py'), uri, seed])];
      if (lancedb !== undefined) {
        const script = [join(here, 'lancedb.mjs'), uri, lancedb, seed];
        sides.push(new Side('LanceDB', process.execPath, script));
      }
      const refusals = new Map();
      const take = (line) => {
        if (process.env.VERBOSE !== undefined)
          console.log(JSON.stringify({ at: new Date().toISOString(), ...line }));
        if (line.event === 'refused') {
          const kind = `${line.who}: ${kindOf(line.why)}`;
          refusals.set(kind, (refusals.get(kind) ?? 0) + 1);
          if (line.fresh && LOST_FILE.test(line.why) && LASTING.test(line.branch))
            failures.push(`${line.who} on ${line.branch}: ${line.why}`);
        }
        history.take(line);
      };
      let known;
      const check = async (before) => {
        checks++;
        const compare = new Comparison(history, own, sides, failures);
        compared += await compare.all(before);
        known = compare.wanted;
      };
      try {
        for (let round = 0; round < rounds && failures.length === 0; round++) {
          const writers = [own, ...sides];
          const missing = Math.ceil(commits / rounds) * (round + 1) - history.changes;
          // Some are refused, and made up for in the next round.
          const each = Math.ceil(missing / writers.length);
          if (each > 0) {
            const request = { does: 'write', commits: each };
            await Promise.all(writers.map((side) => side.ask(request, take)));
          }
          await check();
        }
        if (failures.length === 0) {
          // Old versions go, but those that have a tag or are the start of a branch.
          await own.ask({ does: 'clean' });
          await check(known);
        }
      } finally {
        for (const side of sides) await side.end();
      }
      for (const [kind, count] of refusals) console.log(`  refused ${count} times: ${kind}`);
    });
  } finally {
    await own.end();
  }
  for (const failure of failures.slice(0, 20)) console.log(`FAILED ${failure}`);
  for (const [what, count] of Object.entries(history.counts).sort())
    console.log(`  ${count} ${what}`);
  console.log(
    `histories: ${history.changes} commits, ${history.branches.length} branches and ${history.tags.size} tags in the end, ${compared} versions compared in ${checks} checks, ${failures.length} failures`,
  );
  return failures.length > 0;
}

/** Compares what all sides read with the model. */
class Comparison {
  #history;
  #own;
  #sides;
  #failures;
  /** By `branch/version` and `tag name`: the digest of the rows. */
  wanted = new Map();

  constructor(history, own, sides, failures) {
    this.#history = history;
    this.#own = own;
    this.#sides = sides;
    this.#failures = failures;
  }

  #fail(what) {
    this.#failures.push(what);
  }

  /**
   * @param before what had to be read before a cleanup of old versions
   * @returns how many versions and tags were read
   */
  async all(before) {
    const history = this.#history;
    await this.#own.ask({ does: 'sync' });
    const { versions, tags } = await this.#own.ask({ does: 'list' });
    const listed = new Map(Object.entries(versions));
    this.#same('branches', [...listed.keys()], [MAIN, ...history.branches]);
    const wantedTags = [...history.tags].map(([tag, { branch, version }]) => [
      tag,
      branch,
      version,
    ]);
    this.#same('tags', tags, wantedTags);
    const request = {
      does: 'read',
      versions: [...listed].flatMap(([branch, numbers]) => numbers.map((each) => [branch, each])),
      tags: tags.map(([tag]) => tag),
    };
    const { reads } = await this.#own.ask(request);
    const found = new Map(reads.map(([key, rows]) => [key, rows]));
    const ids = new Map(reads.map(([key, , each]) => [key, each]));
    this.wanted = before ?? history.wanted(listed, found);
    this.#failures.push(...history.problems.splice(0));
    for (const [tag, branch, version] of wantedTags) {
      const key = `${branch}/${version}`;
      this.wanted.set(`tag ${tag}`, this.wanted.get(key));
      if (!found.has(key)) this.#fail(`${key} has the tag ${tag}, and is not there`);
      if (ids.get(`tag ${tag}`) !== ids.get(key)) this.#fail(`tag ${tag}: row ids differ`);
    }
    for (const [key, rows] of found) {
      const wanted = this.wanted.get(key);
      if (wanted !== rows) this.#fail(`dirspace: ${key} is ${rows}, not ${wanted}`);
    }
    for (const side of this.#sides) await this.#compare(side, request, ids, wantedTags);
    const { verified } = await this.#own.ask({ does: 'verify' });
    for (const { path, what } of verified?.problems ?? []) this.#fail(`verify: ${path}: ${what}`);
    return reads.length;
  }

  async #compare(side, request, ids, wantedTags) {
    const { reads } = await side.ask(request);
    for (const [key, rows, rowIds] of reads) {
      const wanted = this.wanted.get(key);
      if (rows !== wanted) this.#fail(`${side.name}: ${key} is ${rows}, not ${wanted}`);
      else if (rowIds !== ids.get(key)) this.#fail(`${side.name}: ${key} has other row ids`);
    }
    const names = await side.ask({ does: 'list' });
    const branches = names.branches.filter((name) => name !== MAIN);
    this.#same(`${side.name}: branches`, branches, this.#history.branches);
    const known = names.tags.map((tag) => [tag[0], tag.at(-1)]);
    this.#same(
      `${side.name}: tags`,
      known,
      wantedTags.map(([tag, , version]) => [tag, version]),
    );
  }

  #same(what, found, wanted) {
    const [left, right] = [found, wanted].map((each) => each.map((one) => JSON.stringify(one)));
    const more = left.filter((each) => !right.includes(each));
    const missing = right.filter((each) => !left.includes(each));
    if (more.length > 0 || missing.length > 0)
      this.#fail(`${what}: ${more} are there and not wanted; ${missing} are missing`);
  }
}
