/**
 * The comparison with the newest protocol: the document is read as it is, a generated client too, and
 * what differs is told. The protocol that is taken for the current one has no difference that is not known.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/server/openapi.ts';
import { PROTOCOL } from '../helpers/protocol-document.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

interface Shapes {
  operations: Record<string, { route: string; query: Record<string, string>; body: string }>;
  models: Record<string, Record<string, string>>;
}

const scripts = new URL('../../scripts/', import.meta.url);
const { clientShapes, documentShapes, differences } = (await import(
  new URL('protocol-shapes.mjs', scripts).href
)) as {
  clientShapes(folder: string): Shapes;
  documentShapes(document: object): Shapes;
  differences(theirs: Shapes, ours: Shapes): { different: string[]; beyond: string[] };
};
const known = (
  JSON.parse(readFileSync(new URL('protocol-known.json', scripts), 'utf8')) as {
    why: string;
    differences: string[];
  }[]
).flatMap((one) => one.differences);

const ours = documentShapes(JSON.parse(JSON.stringify(openApiDocument())));

/** A package as the generator writes it, with one operation and two models. */
function packageOf(model: string, query = "_query_params.append(('mode', mode))"): string {
  const folder = temporaryFolder();
  const root = join(folder, 'lance_namespace_urllib3_client');
  mkdirSync(join(root, 'models'), { recursive: true });
  mkdirSync(join(root, 'api'));
  writeFileSync(
    join(root, 'models', 'thing_request.py'),
    `class ThingRequest(BaseModel):\n    """ x """ # noqa: E501\n${model}\n    __properties: ClassVar[List[str]] = []\n`,
  );
  writeFileSync(join(root, 'models', '__init__.py'), 'from a import b\n');
  writeFileSync(
    join(root, 'api', 'thing_api.py'),
    `class ThingApi:
    def do_thing(
        self,
        id: StrictStr,
        thing_request: ThingRequest,
        mode: Optional[StrictStr] = None,
    ) -> None:
        pass

    def _do_thing_serialize(
        self,
    ) -> RequestSerialized:
        _collection_formats: Dict[str, str] = {
            'on': 'multi',
        }
        ${query}
        _query_params.append(('on', on))
        _body_params = thing_request
        return self.api_client.param_serialize(
            method='POST',
            resource_path='/v1/thing/{id}/do',
        )
`,
  );
  return folder;
}

const MODEL = `    id: Optional[List[StrictStr]] = None
    parent_name: Annotated[str, Field(min_length=1, strict=True)] = Field(description="a = b", alias="parentName")
    size: Optional[Annotated[int, Field(strict=True, ge=1)]] = Field(default=None, description="At least 1.")
    tags: Optional[Dict[str, StrictStr]] = None
    score: Optional[Union[StrictFloat, StrictInt]] = None
    inner: QueryTableRequestVector`;

describe('the shapes', () => {
  test('of a generated client', () => {
    const { operations, models } = clientShapes(packageOf(MODEL));
    expect(models).toEqual({
      ThingRequest: {
        'id?': 'list of string',
        parentName: 'string, 1 or more',
        'size?': 'integer >= 1',
        'tags?': 'map of string',
        'score?': 'number',
        inner: 'QueryVector',
      },
    });
    expect(operations).toEqual({
      DoThing: {
        route: 'POST /v1/thing/{id}/do',
        query: { mode: 'one', on: 'list' },
        body: 'ThingRequest',
      },
    });
  });

  test('of our document', () => {
    expect(ours.operations.MergeInsertIntoTable).toMatchObject({
      route: 'POST /v1/table/{id}/merge_insert',
      query: { on: 'list', use_index: 'one' },
      body: 'rows',
    });
    expect(ours.models.QueryTableRequest).toMatchObject({
      k: 'integer >= 0',
      'minimum_nprobes?': 'integer >= 1',
      'columns?': 'QueryColumns',
    });
  });
});

test('what is missing, what is otherwise and what is beyond are told apart', () => {
  const theirs = clientShapes(packageOf(MODEL));
  expect(differences(theirs, theirs)).toEqual({ different: [], beyond: [] });
  const changed = clientShapes(
    packageOf(
      `${MODEL.replace('ge=1', 'ge=0').replace(/ {4}tags: .*\n/, '')}\n    fresh: Optional[StrictBool] = None`,
      '',
    ),
  );
  expect(differences(changed, theirs)).toEqual({
    different: [
      'member of ThingRequest size is optional integer >= 0, here optional integer >= 1',
      'member of ThingRequest fresh (boolean) is missing',
    ],
    beyond: ['parameter of DoThing mode (one)', 'member of ThingRequest tags (map of string)'],
  });
  const nothing = { operations: {}, models: {} };
  expect(differences(theirs, nothing).different).toEqual([
    'operation DoThing (POST /v1/thing/{id}/do) is missing',
    'model ThingRequest is missing',
  ]);
});

test('our operations and models are those of the protocol, save what is known', () => {
  // Inline objects have no names in the document, so models are compared with the client alone.
  const { operations } = documentShapes(PROTOCOL);
  const { different } = differences({ operations, models: {} }, ours);
  const bodies = /: its body is /;
  expect(different.filter((text) => !bodies.test(text))).toEqual([]);
  expect(new Set(known).size).toBe(known.length);
});
