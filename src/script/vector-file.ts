/**
 * Files of test cases for scripts (docs/protocol/scripts.md#test-files): sources, binaries, a
 * fixture with transactions and state, and the outcomes to expect. Authors of scripts test theirs
 * with such files, and so does this repository.
 */
import { base58 } from '../base/base58.ts';
import { sizeOf } from './evaluation/charges.ts';
import type { Environment, Hashes } from './evaluation/environment.ts';
import { Meter, RUN_UNITS_MAX } from './evaluation/meter.ts';
import { isAddressOf } from './evaluation/operations.ts';
import { ScriptError } from './language/tree.ts';
import { BUY, type CaseObject, SELL, UNIT, type Value } from './language/values.ts';
import { createScripts, readBase64, type Script } from './script.ts';

export interface VectorFile {
  readonly fixture: Fixture;
  readonly scripts?: readonly SourceCase[];
  readonly decode?: readonly BinaryCase[];
  readonly known?: readonly BinaryCase[];
}

interface Fixture {
  readonly chainId: number;
  readonly transactions: Readonly<Record<string, ValueJson>>;
  readonly state: FixtureState;
}

export interface FixtureState {
  readonly data?: Readonly<Record<string, Readonly<Record<string, ValueJson>>>>;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly balances?: Readonly<Record<string, Readonly<Record<string, number | bigint>>>>;
  readonly transactionsById?: Readonly<Record<string, string>>;
  readonly transactionHeights?: Readonly<Record<string, number>>;
}

type ValueJson =
  | { readonly int: string }
  | { readonly string: string }
  | { readonly boolean: boolean }
  | { readonly bytes: string }
  | { readonly list: readonly ValueJson[] }
  | { readonly object: string; readonly fields: Readonly<Record<string, ValueJson>> }
  | { readonly unit: true };

interface Expected {
  readonly version?: number;
  readonly base64?: string;
  readonly size?: number;
  readonly complexity?: number;
  readonly scriptText?: string;
  readonly error?: string | null;
  readonly parseError?: boolean;
  readonly anyError?: boolean;
  readonly evaluations?: readonly Evaluation[];
}

interface SourceCase extends Expected {
  readonly source: string;
  readonly assetScript?: boolean;
}

interface BinaryCase extends Expected {
  readonly base64: string;
  readonly decode?: string;
}

interface Evaluation {
  readonly tx: string;
  readonly height: number;
  readonly expect: boolean | 'error';
}

/** What one case should give and gave. */
export interface Failing {
  readonly case: string;
  readonly what: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface Tested {
  readonly cases: number;
  readonly failing: readonly Failing[];
  /** Of the run that consumed most. */
  readonly unitsMax: number;
}

type Verify = Environment['verify'];
type Report = (what: string, expected: unknown, actual: unknown) => void;

/** Runs every case of the file. */
export function testVectors(file: VectorFile, hashes: Hashes, verify: Verify): Tested {
  const scripts = createScripts(hashes.secureHash);
  const failing: Failing[] = [];
  let unitsMax = 0;
  const spend = (units: number): void => {
    unitsMax = Math.max(unitsMax, units);
  };
  const environment = environmentOf(file.fixture, hashes, verify);
  const run = (title: string, expected: Expected, make: () => Script): void => {
    const report: Report = (what, wanted, actual) => {
      if (wanted !== actual) {
        failing.push({ case: shortened(title), what, expected: wanted, actual });
      }
    };
    testOne(expected, make, environment, { report, spend });
  };
  const { scripts: sources = [], decode = [], known = [] } = file;
  for (const one of sources) {
    const context = one.assetScript === true ? 'asset' : 'account';
    run(one.source, one, () => scripts.compile(one.source, context));
  }
  for (const one of [...decode, ...known]) {
    run(one.decode ?? one.base64, one, () => readBase64(one.base64, scripts));
  }
  return { cases: sources.length + decode.length + known.length, failing, unitsMax };
}

const TITLE_LENGTH_MAX = 200;
const shortened = (title: string): string => title.slice(0, TITLE_LENGTH_MAX);

function testOne(
  expected: Expected,
  make: () => Script,
  environment: (evaluation: Evaluation) => Environment,
  { report, spend }: { readonly report: Report; readonly spend: (units: number) => void },
): void {
  const made = attempt(make);
  const isRefused = expected.parseError === true || expected.anyError === true;
  if (made instanceof ScriptError) {
    if (isRefused) return;
    const text = expected.error ?? undefined;
    report('error', text === undefined ? text : withoutTypes(text), withoutTypes(made.message));
    return;
  }
  if (isRefused || typeof expected.error === 'string') {
    report('error', expected.error ?? 'any', undefined);
    return;
  }
  compare(expected, made, report);
  for (const evaluation of expected.evaluations ?? []) {
    const meter = new Meter(RUN_UNITS_MAX);
    const { result } = made.program.run(environment(evaluation), meter);
    spend(meter.used);
    const actual = typeof result === 'boolean' ? result : 'error';
    report(`${evaluation.tx} at height ${evaluation.height}`, evaluation.expect, actual);
  }
}

function attempt(make: () => Script): Script | ScriptError {
  try {
    return make();
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
}

/** The list of possible types in an error has no fixed order. */
const withoutTypes = (text: string): string => text.split('possible types are')[0]!;

function compare(expected: Expected, { bytes, ...script }: Script, report: Report): void {
  const { version, complexity, base64, size, scriptText } = expected;
  if (version !== undefined) report('version', version, script.version);
  if (complexity !== undefined) report('complexity', complexity, script.complexity);
  const text = Buffer.from(bytes).toString('base64');
  if (base64 !== undefined) report('base64', base64.replace('base64:', ''), text);
  if (size !== undefined) report('size', size, bytes.length);
  if (scriptText !== undefined) report('scriptText', scriptText, script.text());
}

/** The world of the fixture, as each evaluation sees it. */
function environmentOf(
  { chainId, transactions, state }: Fixture,
  hashes: Hashes,
  verify: Verify,
): (evaluation: Evaluation) => Environment {
  const named = (name: string): CaseObject => {
    const json = own(transactions, name);
    if (json === undefined) throw new Error(`The fixture has no transaction '${name}'`);
    return written(() => fromJson(json) as CaseObject);
  };
  const found = stateOf(state, named);
  return ({ tx, height }) => ({
    ...found,
    chainId,
    hashes,
    verify,
    height: () => written(() => BigInt(height)),
    tx: () => named(tx),
    isAddress: (bytes) => isAddressOf({ chainId, hashes }, bytes),
  });
}

/**
 * Reads what a person has written. A mistake in it is no failure of a script: it would make a case
 * pass that expects one.
 */
function written<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`The fixture is wrong: ${(cause as Error).message}`, { cause });
  }
}

type StateReads = 'addressOfAlias' | 'data' | 'balance' | 'lookUp';

/** A state in memory; `named` gives the transactions that it names. */
export function stateOf(
  { data, aliases, balances, transactionsById, transactionHeights }: FixtureState,
  named: (name: string) => CaseObject | undefined,
): Pick<Environment, StateReads> {
  return {
    addressOfAlias(alias) {
      const address = own(aliases, alias);
      return address === undefined ? undefined : written(() => base58.decode(address));
    },
    data(address, key) {
      const entry = own(own(data, base58.encode(address)), key);
      return entry === undefined ? undefined : written(() => fromJson(entry));
    },
    balance(address, assetId) {
      const asset = assetId === undefined ? '' : base58.encode(assetId);
      const found = own(own(balances, base58.encode(address)), asset) ?? 0;
      return written(() => BigInt(found));
    },
    lookUp(id) {
      const text = base58.encode(id);
      const name = own(transactionsById, text);
      const record = name === undefined ? undefined : named(name);
      const height = own(transactionHeights, text);
      if (record === undefined && height === undefined) return undefined;
      const size = sizeOf(record?.fields.get('bodyBytes'));
      return { size, read: () => ({ elements: 0, addresses: 0, height, record: () => record }) };
    },
  };
}

/** Keys come from scripts, and `toString` is none of this record. */
function own<V>(of: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return of !== undefined && Object.hasOwn(of, key) ? of[key] : undefined;
}

function fromJson(json: ValueJson): Value {
  if (!isValue(Object(json))) throw new Error(`${JSON.stringify(json)} is no value`);
  if ('int' in json) return BigInt(json.int);
  if ('string' in json) return json.string;
  if ('boolean' in json) return json.boolean;
  if ('bytes' in json) return base58.decode(json.bytes, json.bytes.length);
  if ('list' in json) return json.list.map(fromJson);
  if ('unit' in json) return UNIT;
  const side = { Buy: BUY, Sell: SELL, Unit: UNIT }[json.object];
  const fields = new Map(Object.entries(json.fields ?? {}).map(([k, v]) => [k, fromJson(v)]));
  return side ?? { type: json.object, fields };
}

const isValue = (json: object): boolean =>
  ('string' in json && typeof json.string === 'string') ||
  ('boolean' in json && typeof json.boolean === 'boolean') ||
  ['int', 'bytes', 'list', 'unit', 'object'].some((kind) => Object.hasOwn(json, kind));
