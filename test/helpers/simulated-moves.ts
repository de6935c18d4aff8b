/** What writers of a simulation do to names: namespaces, and tables taken out and put back. */
import { readFolder } from '../../src/store/disk/file-system.ts';
import type { Attempt, SimulatedWriter } from './simulated-writer.ts';

export function createNamespace(writer: SimulatedWriter, id: string[]): Attempt {
  const mode = writer.simulation.pick('create', 'exist_ok', 'exist_ok', 'overwrite');
  return {
    what: `create the namespace ${id} ${mode}`,
    purpose: mode === 'overwrite' ? 'replace namespace' : 'create namespace',
    run: (catalog) => catalog.createNamespace({ id, mode }),
  };
}

export function dropNamespace(writer: SimulatedWriter, id: string[]): Attempt {
  const { simulation, history } = writer;
  const behavior = simulation.pick('restrict', 'restrict', 'cascade');
  return {
    what: `drop the namespace ${id} ${behavior}`,
    purpose: 'drop namespace',
    moves: true,
    run: (catalog) => catalog.dropNamespace({ id, behavior }),
    check: (_, from, to, number) => {
      const trash = history.references.droppedTo(number);
      if (trash === undefined || behavior === 'cascade') return undefined;
      // The trash keeps nothing of a namespace that was empty.
      if (!simulation.base.existsSync(trash)) return undefined;
      const inside = readFolder(simulation.base, trash).filter((entry) => entry.isDirectory());
      if (inside.length === 0) return undefined;
      return `was acknowledged between ${from} and ${to} and took ${inside.map(({ name }) => name)}`;
    },
  };
}

export function declare(id: string[]): Attempt {
  return { what: `declare ${id}`, moves: true, run: (catalog) => catalog.declareTable({ id }) };
}

/** @param places where tables went that were taken out */
export function deregister(id: string[], places: string[]): Attempt {
  return {
    what: `deregister ${id}`,
    moves: true,
    run: async (catalog) => {
      const { context } = await catalog.deregisterTable({ id });
      places.push(context?.relative_location as string);
    },
  };
}

export function register(writer: SimulatedWriter, id: string[], places: string[]): Attempt {
  const location = writer.simulation.pick(...places, '.dirspace/detached/none.table');
  const mode = writer.simulation.pick('create', 'overwrite');
  return {
    what: `register ${location} as ${id} ${mode}`,
    moves: true,
    run: (catalog) => catalog.registerTable({ id, location, mode }),
  };
}
