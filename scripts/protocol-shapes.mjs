/**
 * The shapes of the protocol in one plain form, from two sources: the generated client for Python,
 * and an OpenAPI document. Types are words such as `list of string` or `integer >= 0`; a `?` after
 * the name of a member says that it may be left out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{route: string, query: Record<string, string>, body: string}} Operation
 * @typedef {{operations: Record<string, Operation>, models: Record<string, Record<string, string>>}} Shapes
 */

/** Objects that the document has inline, by the names that the generator makes up for them. */
const OTHER_NAMES = {
  QueryTableRequestVector: 'QueryVector',
  QueryTableRequestColumns: 'QueryColumns',
  QueryTableRequestFullTextQuery: 'QueryText',
};

const nameOf = (name) => OTHER_NAMES[name] ?? name;

/** The shapes of the unpacked Python package in `folder`. @returns {Shapes} */
export function clientShapes(folder) {
  const models = {};
  const modelsFolder = join(folder, 'lance_namespace_urllib3_client', 'models');
  for (const file of readdirSync(modelsFolder)) {
    const text = readFileSync(join(modelsFolder, file), 'utf8');
    const [, name] = /^class (\w+)\(BaseModel\):/m.exec(text) ?? [];
    if (name !== undefined) models[nameOf(name)] = membersOf(text);
  }
  const operations = {};
  const apiFolder = join(folder, 'lance_namespace_urllib3_client', 'api');
  for (const file of readdirSync(apiFolder)) {
    const text = readFileSync(join(apiFolder, file), 'utf8');
    for (const [, name, code] of text.matchAll(
      /^ {4}def _(\w+)_serialize\(([\s\S]*?)(?=^ {4}@|^ {4}def |(?![\s\S]))/gm,
    )) {
      operations[pascal(name)] = operationOf(name, code, text);
    }
  }
  return { operations, models };
}

const pascal = (name) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());

function membersOf(text) {
  const members = {};
  const lines = text.matchAll(/^ {4}(\w+): (.+?)(?: = (None|Field\(.*\)))?$/gm);
  for (const [, python, type, value = ''] of lines) {
    if (python.startsWith('_') || python === 'model_config') continue;
    const [, name = python] = /alias="(\w+)"/.exec(value) ?? [];
    const optional = type.startsWith('Optional[') || /\bdefault=|^None/.test(value);
    members[`${name}${optional ? '?' : ''}`] = pythonType(type);
  }
  return members;
}

/** A type of the generated code as words. */
function pythonType(type) {
  const inside = /^(?:Optional|Annotated)\[([\s\S]*)\]$/.exec(type);
  if (type.startsWith('Optional[')) return pythonType(inside[1]);
  if (type.startsWith('Annotated[')) {
    const [inner, field] = splitTop(inside[1]);
    const [, least] = /\bge=(\d+)/.exec(field) ?? [];
    const [, few] = /\bmin_length=(\d+)/.exec(field) ?? [];
    const bound =
      least === undefined ? (few === undefined ? '' : `, ${few} or more`) : ` >= ${least}`;
    return pythonType(inner) + bound;
  }
  const [, container, args] = /^(List|Dict)\[([\s\S]*)\]$/.exec(type) ?? [];
  if (container === 'List') return `list of ${pythonType(args)}`;
  if (container === 'Dict') {
    const value = pythonType(splitTop(args)[1]);
    return value === 'any' ? 'object' : `map of ${value}`;
  }
  if (/^Union\[/.test(type)) return 'number';
  const plain = { StrictStr: 'string', str: 'string', StrictBool: 'boolean', StrictInt: 'integer' };
  const others = { int: 'integer', Any: 'any', datetime: 'string' };
  return plain[type] ?? others[type] ?? nameOf(type);
}

/** The parts of a text between commas that are in no brackets. */
function splitTop(text) {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('[('.includes(character)) depth += 1;
    if ('])'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

function operationOf(name, code, text) {
  const [, method] = /method='(\w+)'/.exec(code) ?? [];
  const [, path] = /resource_path='([^']+)'/.exec(code) ?? [];
  const [, formats = ''] = /_collection_formats[^{]*\{([^}]*)\}/.exec(code) ?? [];
  const query = {};
  for (const [, parameter] of code.matchAll(/_query_params\.append\(\('(\w+)'/g)) {
    query[parameter] = formats.includes(`'${parameter}'`) ? 'list' : 'one';
  }
  return { route: `${method} ${path}`, query, body: bodyOf(name, code, text) };
}

function bodyOf(name, code, text) {
  if (code.includes("'application/vnd.apache.arrow.stream'")) {
    if (/_body_params: Optional\[bytes\]/.test(code)) return 'rows';
  }
  const [, parameter] = /_body_params = (\w+)$/m.exec(code) ?? [];
  if (parameter === undefined) return 'none';
  const [, signature] = new RegExp(`def ${name}\\(([\\s\\S]*?)\\n    \\)`).exec(text) ?? [];
  const [, type = 'any'] =
    new RegExp(`^ {8}${parameter}: (.+?)(?: = None)?,$`, 'm').exec(signature) ?? [];
  return pythonType(type);
}

/** The shapes of an OpenAPI document. @returns {Shapes} */
export function documentShapes(document) {
  const models = {};
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (schema.properties !== undefined) models[name] = schemaMembers(schema);
  }
  const operations = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, item] of Object.entries(methods)) {
      operations[item.operationId] = documentOperation(document, method, path, item);
    }
  }
  return { operations, models };
}

function schemaMembers({ properties, required = [] }) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      `${name}${required.includes(name) ? '' : '?'}`,
      schemaType(schema),
    ]),
  );
}

function schemaType(schema) {
  const { $ref, type, items, additionalProperties, minimum, minItems, minLength, anyOf } = schema;
  if ($ref !== undefined) return plainModel($ref.slice($ref.lastIndexOf('/') + 1));
  if (anyOf !== undefined)
    return anyOf
      .map(schemaType)
      .filter((one) => one !== 'null')
      .join(' or ');
  if (type === 'array') return `list of ${schemaType(items)}${atLeast(minItems)}`;
  if (type === 'object' && additionalProperties)
    return `map of ${schemaType(additionalProperties)}`;
  if (type === 'integer') return minimum === undefined ? type : `${type} >= ${minimum}`;
  return `${type ?? 'any'}${atLeast(minLength)}`;
}

const atLeast = (count) => (count === undefined ? '' : `, ${count} or more`);

/** Maps that the document names are maps in the client. */
const plainModel = (name) => (name === 'Context' ? 'map of string' : name);

function documentOperation(document, method, path, { parameters, requestBody }) {
  const query = {};
  for (const given of parameters) {
    const parameter = given.$ref === undefined ? given : resolve(document, given.$ref);
    if (parameter.in !== 'query') continue;
    query[parameter.name] = parameter.schema.type === 'array' ? 'list' : 'one';
  }
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body =
    type === undefined ? 'none' : type === 'application/json' ? schemaType(content.schema) : 'rows';
  return { route: `${method.toUpperCase()} ${path}`, query, body };
}

const resolve = (document, reference) =>
  reference
    .slice(2)
    .split('/')
    .reduce((node, name) => node[name], document);

/**
 * What the first shapes have that the second lack or have otherwise, and what only the second have.
 * @param {Shapes} theirs @param {Shapes} ours @returns {{different: string[], beyond: string[]}}
 */
export function differences(theirs, ours) {
  const different = [];
  const beyond = [];
  for (const [name, operation] of Object.entries(theirs.operations)) {
    const own = ours.operations[name];
    if (own === undefined) {
      different.push(`operation ${name} (${operation.route}) is missing`);
      continue;
    }
    for (const member of ['route', 'body']) {
      if (withoutSlash(own[member]) === withoutSlash(operation[member])) continue;
      different.push(`${name}: its ${member} is ${operation[member]}, here ${own[member]}`);
    }
    compare(`parameter of ${name}`, operation.query, own.query, different, beyond);
  }
  for (const name of Object.keys(ours.operations)) {
    if (theirs.operations[name] === undefined) beyond.push(`operation ${name}`);
  }
  for (const [name, members] of Object.entries(theirs.models)) {
    const own = ours.models[name];
    if (own === undefined) different.push(`model ${name} is missing`);
    else compare(`member of ${name}`, members, own, different, beyond);
  }
  for (const name of Object.keys(ours.models)) {
    if (theirs.models[name] === undefined) beyond.push(`model ${name}`);
  }
  return { different, beyond };
}

const withoutSlash = (text) => text.replace(/\/$/, '');

function compare(what, theirs, ours, different, beyond) {
  const bare = (name) => name.replace('?', '');
  const find = (members, name) => Object.keys(members).find((one) => bare(one) === bare(name));
  for (const [name, type] of Object.entries(theirs)) {
    const own = find(ours, name);
    if (own === undefined) different.push(`${what} ${bare(name)} (${type}) is missing`);
    else if (own !== name || ours[own] !== type) {
      different.push(
        `${what} ${bare(name)} is ${optional(name)}${type}, here ${optional(own)}${ours[own]}`,
      );
    }
  }
  for (const name of Object.keys(ours)) {
    if (find(theirs, name) === undefined) beyond.push(`${what} ${bare(name)} (${ours[name]})`);
  }
}

const optional = (name) => (name.endsWith('?') ? 'optional ' : '');
