/** The interface description that a node serves, and whether its answers are what it says. */
import { Compile } from 'typebox/schema';
import { isObject, type JsonObject } from '../../src/base/json.ts';
import { call } from '../rest-cases/runner.ts';

/** What is wrong with an answer. */
export type Checker = (status: number, contentType: string, text: string) => readonly string[];

type Validator = ReturnType<typeof Compile>;

/** Holds answers to the document that the node itself serves. */
export class Interface {
  /** By method and path. */
  readonly operations = new Map<string, JsonObject>();
  readonly components: JsonObject;
  private readonly compiled = new Map<JsonObject, Validator>();

  constructor(document: JsonObject) {
    this.components = document['components'] as JsonObject;
    for (const [path, methods] of Object.entries(document['paths'] as JsonObject)) {
      for (const [method, operation] of Object.entries(methods as JsonObject)) {
        this.operations.set(`${method.toUpperCase()} ${path}`, operation as JsonObject);
      }
    }
  }

  checker(name: string): Checker {
    const operation = this.operations.get(name);
    const responses = operation?.['responses'] as JsonObject;
    const good = contentOf(responses['200']);
    const unwell: Record<number, JsonObject> =
      responses['503'] === undefined ? {} : { 503: contentOf(responses['503']) };
    const refused = contentOf((this.components['responses'] as JsonObject)['Refused']);
    return (status, contentType, text) => {
      const content = status === 200 ? good : (unwell[status] ?? refused);
      const type = contentType.split(';')[0]!;
      if (type === 'text/plain' && status === 200 && type in content) return [];
      const schema = (content[type] as JsonObject | undefined)?.['schema'];
      if (schema === undefined) return [`no answer of type ${type} is described`];
      const validator = this.compile(schema as JsonObject);
      const value: unknown = JSON.parse(text);
      // Errors are looked for a hundred times slower than their absence is seen.
      if (validator.Check(value)) return [];
      const [, problems] = validator.Errors(value);
      return problems.map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
  }

  /** With the components beside it, where references of the document look for them. */
  private compile(schema: JsonObject): Validator {
    const known = this.compiled.get(schema);
    if (known !== undefined) return known;
    const made = Compile({ ...schema, components: this.components });
    this.compiled.set(schema, made);
    return made;
  }
}

const contentOf = (response: unknown): JsonObject =>
  isObject(response) && isObject(response['content']) ? response['content'] : {};

export async function interfaceOf(url: string): Promise<Interface> {
  const document = await call('GET', `${url}/api-docs/swagger.json`);
  return new Interface(JSON.parse(document.text));
}

/** A path with its parameters filled in. */
export const targetOf = (
  pattern: string,
  values: Readonly<Record<string, string | number>>,
): string =>
  pattern.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(values[key])));
