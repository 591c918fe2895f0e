// Which errors are those of this machine. The errors of the system are real ones where they can be
// made.
import { openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { VerifyThreadError } from '../../../src/adapters/verify/signature-pool.ts';
import { VerifyQueueFullError } from '../../../src/adapters/verify/signature-queue.ts';
import { AssertionError } from '../../../src/base/assert.ts';
import { TooLate } from '../../../src/base/deadline.ts';
import {
  apiError,
  catalogue,
  type ErrorName,
  OwnFailure,
  Refusal,
} from '../../../src/base/errors.ts';
import { misconduct } from '../../../src/base/faults/misconduct.ts';
import { isOwnFault } from '../../../src/base/faults/own-fault.ts';
import { StoreCorruptError } from '../../../src/base/faults/store-damage.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { refusalFrom } from '../../../src/codec/refusal.ts';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('it throws nothing');
}

const deep = (): unknown => [deep()];

async function endOfThread(): Promise<unknown> {
  const code = 'const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length));';
  const thread = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } });
  return new Promise((resolve) => thread.once('error', resolve));
}

t.test('errors of this machine', async (t) => {
  const own = {
    'a file that cannot be opened': thrownBy(() => openSync('/nowhere/at/all', 'r')),
    'no memory': thrownBy(() => new ArrayBuffer(2 ** 52)),
    'a thread without memory': await endOfThread(),
    'a number of the store': Object.assign(new Error('MDB_MAP_FULL'), { code: -30792 }),
    'a cause inside': new Error('written', { cause: thrownBy(() => openSync('/nowhere', 'r')) }),
    'damage on the disk': new StoreCorruptError('/data', 'a row'),
    'no threads': new VerifyThreadError('they died'),
    'a full queue': new VerifyQueueFullError('full'),
    'a disk without room': apiError('DiskLow'),
    'an invariant': new AssertionError('it broke'),
  };
  for (const [name, error] of Object.entries(own)) {
    t.ok(isOwnFault(error), name);
    t.equal(
      thrownBy(() => refusalFrom(error)),
      error,
      'it is no refusal of an input',
    );
  }
});

t.test('errors of an input', async (t) => {
  const others = {
    'a rule': apiError('StateCheckFailed', 'no'),
    'what is absent': apiError('BlockNotFound', 'x'),
    'wrong bytes': new CodecError('bytes', 'too few'),
    'a stack that is too deep': thrownBy(deep),
    'a text that is no JSON': thrownBy(() => JSON.parse('{')),
    'a peer that is slow': new TooLate('no answer'),
    'what a peer did': misconduct('nothing good'),
    'an abort': AbortSignal.abort().reason,
    'no error': 'text',
  };
  for (const [name, error] of Object.entries(others)) t.notOk(isOwnFault(error), name);
  t.match(refusalFrom(others['a stack that is too deep']), { entry: 'Unhandled', status: 400 });
  t.notOk(refusalFrom(others['a stack that is too deep']) instanceof Refusal);
});

t.test('the catalogue says which entries are failures of the node', async (t) => {
  for (const name of Object.keys(catalogue) as ErrorName[]) {
    const error = (apiError as (name: ErrorName, ...args: unknown[]) => unknown)(name, 1n, 2n);
    const { status } = catalogue[name];
    t.ok(error instanceof OwnFailure !== error instanceof Refusal, name);
    if (status >= 500 || status === 429) t.ok(error instanceof OwnFailure, `${name}: ${status}`);
  }
  const more = apiError('StateCheckFailed', 'no').with({ tx: {} });
  t.ok(more instanceof Refusal);
  t.ok(apiError('DiskLow').with({ tx: {} }) instanceof OwnFailure);
});
