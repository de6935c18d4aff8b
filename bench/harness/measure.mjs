/**
 * Takes samples of one workload on every side by turns: medians, minima and processor time. A slow
 * moment of the machine hits all sides, as they alternate. Short calls alternate in blocks, each in
 * the state of a program that makes such calls one after the other.
 */
import { settle } from '../workloads/settle.mjs';

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Milliseconds that all threads of this process have worked. */
export function cpuTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** @param times samples @param cpu processor time of all of them together */
export function figure(times, cpu) {
  return {
    median: median(times),
    min: Math.min(...times),
    cpu: cpu === undefined ? null : cpu / times.length,
    samples: times.length,
  };
}

/** Milliseconds after which a peer takes no further samples of a workload; `samples` tells how many it took. */
const MOST_MILLIS = 30_000;

/**
 * What a workload's sides take: `{ours: {median, min, cpu, samples}, ...}`, in milliseconds. A side
 * that answers a number has to answer that of the others. A peer that refuses the very first call
 * cannot do the same: its figure is `{refused: message}`.
 */
export async function measure(workload, givenSamples) {
  const { samples = 9, warmups = 0, block = 1, settled } = workload;
  const count = Number(givenSamples ?? samples);
  const sides = Object.entries(sidesOf(workload)).map(([name, run]) => ({
    name,
    run,
    times: [],
    cpu: 0,
    spent: 0,
    answers: [],
  }));
  for (const side of sides) {
    for (let n = 0; n < warmups && !side.refused && !isSlow(side); n++) {
      const start = performance.now();
      await unlessRefused(side, () => side.run(count + n));
      side.spent += performance.now() - start;
    }
  }
  for (let from = 0; from < count; from += block) {
    const to = Math.min(count, from + block);
    for (const side of sides) {
      if (side.refused || (side.times.length > 0 && isSlow(side))) continue;
      if (settled) settle();
      await unlessRefused(side, () => runBlock(side, from, to));
    }
  }
  compareAnswers(workload.name, sides);
  const figures = sides.map(({ name, times, cpu, refused }) => [
    name,
    refused ? { refused } : figure(times, cpu),
  ]);
  return Object.fromEntries(figures);
}

const MISTAKES = [TypeError, ReferenceError, RangeError];
/** Faults of the bench itself are no refusals. */
export const isMistake = (error) => MISTAKES.some((kind) => error instanceof kind);

async function unlessRefused(side, work) {
  try {
    await work();
  } catch (error) {
    if (side.name === 'ours' || isMistake(error) || side.times.length > 0) throw error;
    side.refused = error.message;
  }
}

const isSlow = ({ name, spent }) => name !== 'ours' && spent > MOST_MILLIS;

async function runBlock(side, from, to) {
  const cpu = cpuTime();
  for (let index = from; index < to; index++) {
    const start = performance.now();
    const answer = await side.run(index);
    const time = performance.now() - start;
    side.times.push(time);
    side.spent += time;
    side.answers.push(answer);
  }
  side.cpu += cpuTime() - cpu;
}

function sidesOf({ sides, ours, peer }) {
  if (sides !== undefined) return sides;
  return peer === undefined ? { ours } : { ours, 'lancedb-ns': peer };
}

function compareAnswers(name, [first, ...others]) {
  for (const other of others) {
    for (const [index, answer] of other.answers.entries()) {
      const expected = first.answers[index];
      if (typeof answer !== 'number' || typeof expected !== 'number') continue;
      if (Math.abs(answer - expected) <= 1e-6 * Math.abs(expected)) continue;
      throw new Error(
        `${name}, sample ${index}: ${first.name} answers ${expected} and ${other.name} ${answer}`,
      );
    }
  }
}
