/** Works on several catalogs at once until it is killed; says what it begins and what was acknowledged. */
import { applied, choose, perform } from './catalog-model.mjs';
import { message, say } from './child-process.mjs';
import { randomOf } from './processes.mjs';

const { connect } = await import(process.argv[2]);
say({ ready: true });
const { durability, lanes } = await message();

async function work(lane, { root, state: given, seed }) {
  const random = randomOf(seed);
  const connection = await connect(root, { durability });
  for (let state = given; ; ) {
    const operation = choose(random, state);
    say({ lane, begin: operation });
    try {
      await perform(connection, operation);
    } catch (error) {
      say({ lane, error: `${operation.kind}: ${error.code} ${error.message}` });
      return;
    }
    say({ lane, done: true });
    state = applied(state, operation);
  }
}

await Promise.all(lanes.map((lane, at) => work(at, lane)));
// Every lane ended with an error; the parent kills what is left.
setInterval(() => {}, 1000);
