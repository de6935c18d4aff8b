/**
 * `onDemand`: loads a module when something of it is first used, so that a program does not parse
 * code for what it never does. Once the module is there, a use takes no turn of the event loop. A
 * load that failed is tried again by the next use.
 */

/** Carries out work with a module: at once where it was loaded before. */
export type OnDemand<Module> = <Answer>(
  use: (module: Module) => Promise<Answer>,
) => Promise<Answer>;

/** @param load imports the module */
export function onDemand<Module>(load: () => Promise<Module>): OnDemand<Module> {
  let module: Module | undefined;
  let loading: Promise<Module> | undefined;
  const loaded = async (): Promise<Module> => {
    loading ??= load();
    try {
      return await loading;
    } finally {
      loading = undefined;
    }
  };
  return (use) =>
    module === undefined
      ? loaded().then((found) => {
          module = found;
          return use(found);
        })
      : use(module);
}
