/**
 * Runs the conformance cases against a node at a base URL.
 *
 * This file does not depend on the node: the caller supplies the requirements of a case and the
 * values of its placeholders. Cases run one after the other, those marked `run-last` at the end.
 */
import { request } from 'node:http';
import { parse, stringify } from '../../src/base/json/json.ts';
import { type Bindings, fill, fillText, Unbound } from './bindings.ts';
import { type RestCase, skipReason } from './cases.ts';
import { mismatches, misshapen } from './matching.ts';

export interface Suite {
  readonly baseUrl: string;
  readonly bindings: Bindings;
  /** Names from `needs`, and issues that are done. */
  readonly available: ReadonlySet<string>;
}

export interface Outcome {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** What is wrong, or what the case waits for. */
  readonly why: readonly string[];
}

const LAST = 'run-last';

export async function runCases(cases: readonly RestCase[], suite: Suite): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const inOrder = [
    ...cases.filter((item) => item.needs !== LAST),
    ...cases.filter((item) => item.needs === LAST),
  ];
  for (const item of inOrder) outcomes.push(await runCase(item, suite));
  return outcomes;
}

async function runCase(item: RestCase, suite: Suite): Promise<Outcome> {
  const { name } = item;
  const waiting = skipReason(item, suite.available);
  if (waiting !== undefined) return { name, result: 'skipped', why: [waiting] };
  try {
    const why = await problemsOf(item, suite);
    return { name, result: why.length === 0 ? 'passed' : 'failed', why };
  } catch (error) {
    if (error instanceof Unbound) return { name, result: 'failed', why: [error.message] };
    return { name, result: 'failed', why: [String(error)] };
  }
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

async function problemsOf(item: RestCase, { baseUrl, bindings }: Suite): Promise<string[]> {
  const answer = await call(
    item.method,
    baseUrl + fillText(item.path, bindings),
    Object.fromEntries(
      Object.entries(item.headers).map(([name, value]) => [name, fillText(value, bindings)]),
    ),
    bodyText(item.body, bindings),
  );
  const statuses = [item.expectStatus].flat();
  if (!statuses.includes(answer.status)) {
    return [`status ${answer.status} instead of ${statuses.join('|')}: ${answer.text}`];
  }
  return [...textProblems(item, answer), ...jsonProblems(item, answer, bindings)].map(
    (problem) => `${problem}; answer ${answer.text.slice(0, 300)}`,
  );
}

function bodyText(body: unknown, bindings: Bindings): string | undefined {
  if (body === null) return undefined;
  const filled = fill(body, bindings);
  return typeof filled === 'string' ? filled : stringify(filled);
}

function textProblems({ expectText, expectHeaders }: RestCase, answer: RawAnswer): string[] {
  const problems: string[] = [];
  if (expectText !== undefined && !new RegExp(expectText).test(answer.text)) {
    problems.push(`the body does not match ${expectText}`);
  }
  for (const [name, expected] of Object.entries(expectHeaders ?? {})) {
    const actual = answer.headers[name.toLowerCase()];
    if (expected === 'any') {
      if (actual === undefined) problems.push(`header ${name} is missing`);
    } else problems.push(...mismatches(actual, expected, `header ${name}`, {}));
  }
  return problems;
}

function jsonProblems(item: RestCase, { text }: RawAnswer, bindings: Bindings): string[] {
  const { expectJsonSubset, expectShape } = item;
  if (expectJsonSubset === undefined && expectShape === undefined) return [];
  const body = parse(text);
  const subset =
    expectJsonSubset === undefined
      ? []
      : mismatches(body, fill(expectJsonSubset, bindings), '', bindings);
  const shape = fill(expectShape ?? {}, bindings) as Record<string, string>;
  return [...subset, ...misshapen(body, shape)];
}

/** One request, sent as it is; a GET may have a body. */
export function call(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const req = request(url, { method, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      const { statusCode: status = 0, headers: given } = response;
      // An answer that goes on for ever has said enough with its head.
      if (given['content-type'] === 'text/event-stream') {
        resolve({ status, headers: given, text: '' });
        req.destroy();
        return;
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status,
          headers: given,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    req.on('error', reject);
    req.end(body);
  });
}
