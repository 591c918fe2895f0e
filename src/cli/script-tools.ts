/** What `platform-node script` does; none of it needs a node. */
import { parse } from '../base/json/json.ts';
import { createChainScheme } from '../crypto/chain-scheme.ts';
import { configuredFamily } from '../crypto/families.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import { generalHashes } from '../crypto/general-hashes.ts';
import type { Environment, Hashes } from '../script/evaluation/environment.ts';
import { Meter, RUN_UNITS_MAX } from '../script/evaluation/meter.ts';
import { ScriptError } from '../script/language/tree.ts';
import { EvaluationFailure } from '../script/language/values.ts';
import { createScripts, readBase64, type Script, type Scripts } from '../script/script.ts';
import { valueText } from '../script/text/tree-text.ts';
import { shownVariables } from '../script/text/variables-text.ts';
import { type FixtureState, stateOf, testVectors, type VectorFile } from '../script/vector-file.ts';
import { txFromJson } from '../tx/json/encode.ts';
import { SCRIPT_EXTRA } from '../tx/rules/fees.ts';
import { recordOf } from '../tx/scripts/records.ts';
import { CliError, EXIT } from './terminal/exit.ts';
import { readAll } from './terminal/lines.ts';
import { printDocument, printJson } from './terminal/output.ts';

interface Flags {
  readonly asset?: true;
  readonly nationalCrypto?: true;
}

export async function compile(file: string, flags: Flags): Promise<void> {
  const source = await readAll(file);
  await answer(() => {
    const script = toolsOf(flags).scripts.compile(source, contextOf(flags));
    const base64 = Buffer.from(script.bytes).toString('base64');
    printJson({ script: `base64:${base64}`, ...costOf(script) });
  });
}

export async function decompile(file: string, flags: Flags): Promise<void> {
  const text = await readAll(file);
  await answer(() => {
    const { scripts } = toolsOf(flags);
    printDocument(scripts.decompile(readBase64(text, scripts).bytes));
  });
}

export async function estimate(file: string, flags: Flags): Promise<void> {
  const script = (await readAll(file)).trim();
  await answer(() => {
    const read = readBase64(script, toolsOf(flags).scripts);
    printJson({ script, scriptText: read.text(), ...costOf(read) });
  });
}

interface EvalFlags extends Flags {
  readonly tx: string;
  readonly state?: string;
  readonly height: string;
  readonly chainId: string;
}

export async function evaluate(file: string, flags: EvalFlags): Promise<void> {
  const text = await readAll(file);
  const json = parse(await readAll(flags.tx));
  const state = flags.state === undefined ? {} : parse(await readAll(flags.state));
  await answer(() => {
    const tools = toolsOf(flags);
    const { program } = anyScript(text, tools.scripts, flags);
    const meter = new Meter(RUN_UNITS_MAX);
    const { result, variables } = program.run(
      environmentOf(json, state as FixtureState, flags, tools),
      meter,
    );
    const vars = shownVariables(variables());
    const { used: units } = meter;
    if (result instanceof EvaluationFailure) printJson({ error: result.message, units, vars });
    else {
      const shown = typeof result === 'boolean' ? result : valueText(result);
      printJson({ result: shown, units, vars });
    }
    if (result !== true) throw new CliError('', EXIT.failure);
  });
}

export async function test(file: string, flags: Flags): Promise<void> {
  const vectors = parse(await readAll(file)) as unknown as VectorFile;
  const { hashes, verify } = toolsOf(flags);
  const { cases, failing } = testVectors(vectors, hashes, verify);
  for (const one of failing) printJson(one);
  printJson({ cases, failed: new Set(failing.map(({ case: name }) => name)).size });
  if (failing.length > 0) throw new CliError('', EXIT.failure);
}

interface Tools {
  readonly family: CryptoFamily;
  readonly scripts: Scripts;
  readonly hashes: Hashes;
  readonly verify: Environment['verify'];
}

function toolsOf({ nationalCrypto }: Flags): Tools {
  const family = configuredFamily(nationalCrypto !== true);
  return {
    family,
    scripts: createScripts(family.secureHash),
    hashes: { ...generalHashes, secureHash: family.secureHash, charges: family.charges },
    verify: (message, signature, publicKey) => family.verify(publicKey, message, signature),
  };
}

const contextOf = ({ asset }: Flags) => (asset === true ? 'asset' : 'account');

const costOf = ({ complexity }: Script) => ({ complexity, extraFee: SCRIPT_EXTRA });

/** A script in Base64, or else a source. Throws ScriptError. */
function anyScript(text: string, scripts: Scripts, flags: Flags): Script {
  const isBase64 = /^\s*(?:base64:)?[A-Za-z0-9+/]{8,}={0,2}\s*$/.test(text);
  return isBase64 ? readBase64(text, scripts) : scripts.compile(text, contextOf(flags));
}

function environmentOf(
  json: unknown,
  state: FixtureState,
  flags: EvalFlags,
  { family, hashes, verify }: Tools,
): Environment {
  const scheme = createChainScheme(family, flags.chainId.charCodeAt(0));
  const tx = txFromJson(json, scheme);
  const record = recordOf(tx, scheme, contextOf(flags));
  if (record === undefined) throw new CliError(`No script can judge type ${tx.type}`);
  return {
    ...stateOf(state, () => undefined),
    chainId: scheme.chainId,
    hashes,
    verify,
    height: () => BigInt(flags.height),
    tx: () => record,
    isAddress: (bytes) => scheme.addressProblem(bytes) === undefined,
  };
}

/** A refused script is an answer on stdout, with the exit code of a failure. */
async function answer(act: () => void): Promise<void> {
  try {
    act();
  } catch (cause) {
    if (!(cause instanceof ScriptError)) throw cause;
    // Guides send stdout to a file.
    printJson({ error: cause.message });
    throw new CliError(cause.message);
  }
}
