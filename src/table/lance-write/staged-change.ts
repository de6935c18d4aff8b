/**
 * Defines `StagedChange`, which holds a staged Lance manifest, the version that it builds on, that
 * version's fragments, and the schema and the plan of fragments that follow from them.
 * `contradiction` builds the error (InvalidInput) for a manifest whose changes differ from its
 * transaction.
 */
import type { FragmentEntry, ParsedManifest } from '../../format/index.ts';
import type { Snapshot } from '../versions/index.ts';
import { invalid } from './refusals.ts';
import type { FragmentPlan } from './staged-fragments.ts';
import type { StagedSchema } from './staged-schema.ts';

export interface StagedChange {
  readonly manifest: ParsedManifest;
  readonly base: Snapshot;
  /** The fragments of the base. */
  readonly entries: readonly FragmentEntry[];
  readonly schema: StagedSchema;
  readonly plan: FragmentPlan;
}

/** @param what the end of a sentence on what the manifest says */
export const contradiction = ({ manifest }: StagedChange, what: string): Error =>
  invalid(`its transaction is ${manifest.transaction?.operation?.kind ?? ''}, and ${what}`);
