/**
 * `requireTypes` throws InvalidInput for a staged data file whose own schema differs from the
 * fields that the manifest lists for it, by type, by place in structs, or by name and id. Many
 * types are stored alike, so reading a column by the wrong type would give wrong values instead of
 * an error.
 */
import type { LanceDataFile, ParsedDataFile, ParsedField } from '../../format/index.ts';
import { invalid, shown } from './refusals.ts';
import type { PlaceOfField, PlannedFragment } from './staged-fragments.ts';
import type { StagedSchema } from './staged-schema.ts';

/** @throws InvalidInput naming the file and the field */
export function requireTypes(
  { places }: Pick<PlannedFragment, 'places'>,
  files: ReadonlyMap<ParsedDataFile, LanceDataFile>,
  { described }: Pick<StagedSchema, 'described'>,
): void {
  // A column for each field, depth first.
  const ownField = ({ file, column }: PlaceOfField): ParsedField | undefined =>
    files.get(file)?.fields[column];
  for (const [id, place] of places) {
    const { file, column } = place;
    const field = described.get(id) as ParsedField;
    const own = ownField(place);
    const refuse = (what: string): Error =>
      invalid(
        `column ${column} of the file ${shown(file.path)} is ${what}, and field ${id} is ${shown(field.name)} of type ${shown(field.logicalType)}`,
      );
    if (own === undefined) throw refuse('none of its own schema');
    if (own.logicalType !== field.logicalType)
      throw refuse(`${shown(own.name)} of type ${shown(own.logicalType)}`);
    const above = places.get(field.parent);
    const parent = above?.file === file ? ownField(above) : undefined;
    if (own.parent !== (field.parent === -1 ? -1 : parent?.id))
      throw refuse(`${shown(own.name)} in another place`);
    // A file keeps the name that the field had when it was written, and then it has the id.
    const isItem = described.get(field.parent)?.logicalType.includes('list') === true;
    if (!isItem && own.id !== id && own.name !== field.name)
      throw refuse(`${shown(own.name)}, which is another field`);
  }
}
