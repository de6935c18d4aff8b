/**
 * `typeText` formats the type of a JSON Arrow field, such as `fixed_size_list<float32>[4]`.
 */
import type { JsonArrowField } from '../../protocol/index.ts';

/** `fixed_size_list<float32>[4]`, `struct<city: utf8>`. */
export function typeText({ type }: JsonArrowField): string {
  const children = type.fields?.map((child) =>
    type.type.endsWith('list') ? typeText(child) : `${child.name}: ${typeText(child)}`,
  );
  const inner = children === undefined ? '' : `<${children.join(', ')}>`;
  return `${type.type}${inner}${type.length === undefined ? '' : `[${type.length}]`}`;
}
