/**
 * The interface description: OpenAPI 3.1 from the declarations of the routes
 * (rest.md#interface-description; decision 26: OpenAPI 3.1). Their schemas are JSON Schema already,
 * so nothing is converted.
 */
import type { Budget } from '../base/limits/budget.ts';
import type { JsonSchema } from '../codec/codec.ts';
import { limits } from './limits.ts';
import type { Params } from './params.ts';
import { type AnyRoute, type Body, pathNames } from './route.ts';
import { budgetOf, mayWait } from './route-budget.ts';

export interface Description {
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly groups: Readonly<Record<string, string>>;
  /** What an operation says of its access; `isOptional`: the key may be unnecessary. */
  readonly keys: Readonly<Record<string, { readonly doc: string; readonly isOptional?: boolean }>>;
  /** Schemas to which the declarations refer. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** The schema of a member of `validationErrors`, where it is not that of wrong fields of a body. */
  readonly problem?: JsonSchema;
}

type Document = Record<string, unknown>;

const sizeOf = ({ type }: Body<unknown>, { bytesIn }: Budget): string =>
  type === 'application/json'
    ? `At most ${bytesIn} bytes and ${limits.body.values} JSON values.`
    : `At most ${bytesIn} bytes.`;

export function openApi(
  routes: readonly AnyRoute[],
  { version, title, description, groups, keys, schemas, problem = FIELD_PROBLEM }: Description,
): Document {
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.group))].map((name) => ({
      name,
      description: groups[name] ?? name,
    })),
    paths: pathsOf(routes, keys),
    components: {
      securitySchemes: { 'API-Key': { type: 'apiKey', name: 'X-API-Key', in: 'header' } },
      schemas: { ...schemas, Error: errorSchema(problem) },
      responses: {
        Refused: {
          description: 'Refused; the body gives the reason.',
          content: errorContent,
        },
        TooMuch: {
          description: 'The answer would exceed the budget of this operation; request less.',
          content: errorContent,
        },
        Overloaded: {
          description: 'The node is overloaded; try again after the seconds in `Retry-After`.',
          headers: { 'Retry-After': { schema: { type: 'integer', minimum: 1 } } },
          content: errorContent,
        },
      },
    },
  };
}

const errorContent = {
  'application/json': { schema: { $ref: '#/components/schemas/Error' } },
};

const FIELD_PROBLEM: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      msg: { type: 'array', items: { type: 'string' } },
      args: { type: 'array' },
    },
  },
};

/** Without this, generators of clients make an object that may have no members. */
const ANY_OBJECT: JsonSchema = { type: 'object', additionalProperties: true };

/** Compile errors have a text where all other errors have a code. */
const errorSchema = (problem: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    error: { type: ['integer', 'string'] },
    message: { type: 'string' },
    cause: { type: ['string', 'null'] },
    validationErrors: {
      type: 'object',
      additionalProperties: problem,
    },
    tx: { ...ANY_OBJECT, description: 'The transaction that the state refuses.' },
    transaction: { ...ANY_OBJECT, description: 'The transaction that a script refuses.' },
    script: { type: 'string' },
    vars: {
      type: 'array',
      items: { type: 'array', items: ANY_OBJECT },
      description: 'The variables of the script, each with `name` and `value` or `error`.',
    },
    status: { const: 'error' },
    details: { type: 'string' },
  },
});

function pathsOf(routes: readonly AnyRoute[], keys: Description['keys']): Document {
  const paths: Record<string, Document> = {};
  for (const route of routes) {
    for (const path of [route.path, ...otherSpellings(route)]) {
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, path, keys) };
    }
  }
  return paths;
}

/**
 * The other paths with the same meaning. Incomplete paths are left out: they exist only to get the
 * right error.
 */
function otherSpellings(route: AnyRoute): readonly string[] {
  const complete = pathNames(route.path).length;
  return (route.also ?? []).filter(
    (path) => pathNames(path).length === complete && !path.endsWith('/'),
  );
}

/** `GET /blocks/at/{height}` as `getBlocksAtHeight`: unique, and stable for code generators. */
function operationId(route: AnyRoute, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return route.method.toLowerCase() + name;
}

function operation(route: AnyRoute, path: string, keys: Description['keys']): Document {
  const { access, body } = route;
  const key = keys[access];
  const budget = budgetOf(route);
  const alias = path === route.path ? '' : `The same as \`${route.path}\`.`;
  const parameters = [
    ...describe(route.params ?? {}, 'path', pathNames(path)),
    ...describe(route.query ?? {}, 'query', Object.keys(route.query ?? {})),
  ];
  return {
    operationId: operationId(route, path),
    tags: [route.group],
    summary: route.doc,
    description: [alias, key?.doc ?? ''].filter((text) => text !== '').join(' '),
    security: key === undefined ? [] : securityOf(key.isOptional),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.optional !== true,
            description: sizeOf(body, budget),
            content: { [body.type]: { schema: bodySchema(body, budget.bytesIn) } },
          },
        }),
    responses: {
      200: {
        description: 'Done.',
        content: {
          [route.replyType ?? 'application/json']: { schema: route.reply },
          ...(route.alsoText === true ? { 'text/plain': { schema: { type: 'string' } } } : {}),
        },
      },
      ...(budget.streamed ? { 413: { $ref: '#/components/responses/TooMuch' } } : {}),
      ...(mayWait(route) ? { 503: { $ref: '#/components/responses/Overloaded' } } : {}),
      ...(route.unavailable === undefined
        ? {}
        : {
            503: {
              description: 'Unhealthy; the body gives the reasons.',
              content: { 'application/json': { schema: route.unavailable } },
            },
          }),
      '4XX': { $ref: '#/components/responses/Refused' },
      default: { $ref: '#/components/responses/Refused' },
    },
  };
}

/** The limit of the whole body also limits a text. */
const bodySchema = ({ type, schema }: NonNullable<AnyRoute['body']>, maxLength: number) =>
  type === 'text/plain' ? { ...schema, maxLength } : schema;

/** An empty requirement beside the key says that the key may be unnecessary. */
function securityOf(isOptional: boolean | undefined): readonly Document[] {
  const key = { 'API-Key': [] };
  return isOptional ? [key, {}] : [key];
}

function describe(params: Params, place: 'path' | 'query', names: readonly string[]): Document[] {
  return names.map((name) => {
    const { doc, schema, optional } = params[name]!;
    return { name, in: place, required: optional !== true, description: doc, schema };
  });
}
