/**
 * `onDemand` imports a module when it is first used, so that a program does not parse code that it
 * never runs. Once the module is loaded, a use runs at once, without a turn of the event loop. If
 * an import fails, the next use tries again.
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
