/** One request whose answer is JSON. */
import { type JsonObject, parse } from '../../src/base/json.ts';
import { call } from '../rest-cases/runner.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

export async function exchangeJson(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<JsonAnswer> {
  const { status, text } = await call(method, url, headers, body);
  return { status, text, body: parse(text) as JsonObject };
}
