/**
 * What scripts take that spend all permitted complexity on one function, on values as long as the
 * language has. Each is repeated as often as complexity and size of a script allow.
 */
import { systemRandom } from '../../src/adapters/system.ts';
import { base58 } from '../../src/base/base58.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';
import { Meter, UNMETERED } from '../../src/script/evaluation/meter.ts';
import { ScriptError } from '../../src/script/language/tree.ts';
import type { CaseObject } from '../../src/script/language/values.ts';
import type { Script } from '../../src/script/script.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import { recordOf } from '../../src/tx/scripts/records.ts';
import { environmentOf } from '../../src/tx/scripts/script-environment.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, decodeTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { data } from '../../src/tx/types/012-data.ts';

export interface Slowest {
  readonly name: string;
  /** The best of many runs, since other programs interrupt some. */
  readonly ms: number;
}

const RUNS = 20;
const REPEATED_MAX = 1000;

/** Each variable has twice the length of the one before, and the last one the most that there is. */
function doubled(name: string, first: string, times: number): string {
  const lines = Array.from(
    { length: times },
    (_, i) => `let ${name}${i + 1} = ${name}${i} + ${name}${i}\n`,
  );
  return `let ${name}0 = ${first}\n${lines.join('')}`;
}

const zeros = (bytes: number): string => `base64'${Buffer.alloc(bytes).toString('base64')}'`;
/** 64 KiB as `b6`, 32 KiB as `b5`; `c` is another value of nearly this length. */
const BYTES = `${doubled('b', zeros(1024), 6)}let c = take(b6, 65535)\n`;
/** 32,736 letters of three bytes each as `s5`; `t` is another text of nearly this length. */
const TEXT = `${doubled('s', `"${'€'.repeat(1023)}"`, 5)}let t = take(s5, 32735)\n`;
const BASE64 = `${BYTES}let s = toBase64String(b5)\nlet t = take(s, 43688)\n`;

interface Case {
  readonly before?: string;
  /** False, so that the next one is evaluated too. */
  readonly repeated: string;
}

const ofBytes = (name: string): Case => ({
  before: BYTES,
  repeated: `${name}(b6) == ${name}(c)`,
});

const hashes = ['keccak256', 'blake2b256', 'sha256', 'secureHash'];

function casesFor(key: string): Readonly<Record<string, Case>> {
  const signature = `let p = tx.proofs[0]\nlet k = base58'${key}'\n`;
  const found = `let i = base58'${key}'\n`;
  return {
    ...Object.fromEntries(hashes.map((name) => [name, ofBytes(name)])),
    sigVerify: { before: signature, repeated: 'sigVerify(tx.bodyBytes, p, k) == false' },
    'sigVerify of 64 KiB': { before: BYTES + signature, repeated: 'sigVerify(b6, p, k)' },
    'toBytes of a text': { before: TEXT, repeated: 'toBytes(s5) == toBytes(t)' },
    fromBase64String: { before: BASE64, repeated: 'fromBase64String(s) == fromBase64String(t)' },
    toBase64String: { before: BYTES, repeated: 'toBase64String(b5) == "a"' },
    fromBase58String: {
      before: `let a = "${'z'.repeat(86)}"\n`,
      repeated: 'size(fromBase58String(a)) == 0',
    },
    'take of bytes': { before: BYTES, repeated: 'take(c, 65534) == b6' },
    '+ of bytes': { before: BYTES, repeated: 'b5 + b5 == c' },
    '== of bytes': { before: `${BYTES}let d = b5 + b5\n`, repeated: '(b6 == d) == false' },
    transactionById: {
      before: found,
      repeated: 'transactionById(i) == transactionById(i) == false',
    },
    '== of transactions': {
      before: `${found}let a = transactionById(i)\nlet b = transactionById(i)\n`,
      repeated: '(a == b) == false',
    },
    addressFromPublicKey: { before: BYTES, repeated: 'addressFromPublicKey(b6).bytes == c' },
    fraction: { repeated: 'fraction(height, 3, 2) * 7 % 5 == 9' },
  };
}

export function slowestScripts(family: CryptoFamily): readonly Slowest[] {
  const scheme = createChainScheme(family, 84);
  const { publicKey, privateKey } = family.keyPairFromPhrase('alice');
  const tx = longData();
  const view = { scheme, get: () => undefined, *range() {} } as never;

  /** The largest transaction of type 12, which is what scripts look up and judge here. */
  function longData(): Tx {
    const layout = data.layouts[0]!;
    const entries = Array.from({ length: 100 }, (_, i) => ({
      key: `key ${i}`,
      type: 'string' as const,
      value: 'x'.repeat(1400),
    }));
    const fields = {
      senderPublicKey: publicKey,
      authorPublicKey: publicKey,
      data: entries,
      timestamp: 1,
      fee: 1n,
    };
    const message = signedBytes(buildTx(data, layout, fields, [], scheme));
    const proofs = [family.sign(privateKey, message, systemRandom)];
    return buildTx(data, layout, fields, proofs, scheme) as unknown as Tx;
  }

  function run({ program }: Script): number {
    let record: CaseObject | undefined;
    const env = environmentOf(
      {
        view,
        height: 100,
        find: () => ({ height: 5, size: tx.bytes.length, tx: () => decodeTx(tx.bytes, scheme) }),
      },
      'account',
      () => {
        record ??= recordOf(tx, scheme, 'account')!;
        return record;
      },
      (message, signature, key) => scheme.verify(key, message, signature),
    );
    const from = performance.now();
    const { result } = program.run(env, new Meter(UNMETERED));
    const ms = performance.now() - from;
    if (result !== false) throw new Error(`the script ends early: ${result}`);
    return ms;
  }

  /** With as many repetitions as fit. */
  function longest({ before = '', repeated }: Case): Script {
    let [least, most] = [1, REPEATED_MAX];
    let script: Script | undefined;
    while (least <= most) {
      const count = (least + most) >> 1;
      try {
        const source = before + Array(count).fill(repeated).join(' || ');
        script = scriptsOf(scheme).compile(source, 'account');
        least = count + 1;
      } catch (cause) {
        if (!(cause instanceof ScriptError)) throw cause;
        most = count - 1;
      }
    }
    if (script === undefined) throw new Error(`does not compile: ${before}${repeated}`);
    return script;
  }

  return Object.entries(casesFor(base58.encode(publicKey)))
    .map(([name, one]) => {
      const script = longest(one);
      const all = Array.from({ length: RUNS }, () => run(script));
      return { name, ms: Math.min(...all) };
    })
    .toSorted((a, b) => b.ms - a.ms);
}
