/**
 * What every Namespace of this package must do, whatever stands behind it. What the protocol says of
 * any catalog is the published conformance suite's, which comes first; the other parts hold what this
 * package promises beyond it. Uses nothing but the methods of a Namespace; parts that an
 * implementation cannot show are left out by name, with a reason.
 */
import { describe } from 'vitest';
import { conformancePart } from './namespace/conformance.ts';
import type { SuiteOptions } from './namespace/context.ts';
import { describePart } from './namespace/describe.ts';
import { indexesPart } from './namespace/indexes.ts';
import { locationsPart } from './namespace/locations.ts';
import { managedPart } from './namespace/managed.ts';
import { namespacesPart } from './namespace/namespaces.ts';
import { requestsPart } from './namespace/requests.ts';
import { tablesPart } from './namespace/tables.ts';
import { traitsPart } from './namespace/traits.ts';
import { versionsPart } from './namespace/versions.ts';

export type { CatalogFiles, Feature, Subject, SuiteOptions } from './namespace/context.ts';

export function namespaceSuite(name: string, options: SuiteOptions): void {
  describe(`namespace: ${name}`, () => {
    conformancePart(options);
    namespacesPart(options);
    tablesPart(options);
    locationsPart(options);
    describePart(options);
    versionsPart(options);
    managedPart(options);
    indexesPart(options);
    requestsPart(options);
    traitsPart(options);
  });
}
