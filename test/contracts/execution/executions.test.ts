import t from 'tap';
import {
  createExecutions,
  type RunningExecution,
} from '../../../src/contracts/execution/executions.ts';
import { REQUESTS_PER_CALL_MAX } from '../../../src/contracts/reads/read-budget.ts';
import { sha256 } from '../../../src/crypto/sha256.ts';

const execution = { height: 7 } as RunningExecution;

function opened() {
  let now = 0;
  let drawn = 0;
  const executions = createExecutions(60_000, {
    clock: { monotonic: () => now },
    random: { bytes: (count) => new Uint8Array(count).fill(++drawn) },
    hash: sha256,
  });
  return { executions, pass: (ms: number) => (now += ms) };
}

t.test('a token opens its own execution until that ends', async (t) => {
  const { executions } = opened();
  const first = executions.begin(execution);
  const second = executions.begin({ ...execution, height: 8 });
  t.match(first, /^[\w-]{43}$/, '256 bits in base64url');
  t.equal(executions.find(first).height, 7);
  t.equal(executions.find(second).height, 8);
  executions.end(first);
  t.throws(() => executions.find(first), { code: 622, status: 401 });
  t.equal(executions.find(second).height, 8);
  t.equal(executions.size, 1);
});

t.test('a token opens nothing after its time, nor does an invented one or none', async (t) => {
  const { executions, pass } = opened();
  const token = executions.begin(execution);
  pass(59_999);
  t.equal(executions.find(token).height, 7);
  pass(1);
  t.throws(() => executions.find(token), {
    code: 622,
    message: 'Authorization error. Invalid token',
  });
  t.throws(() => executions.find('A'.repeat(43)), { code: 622 });
  t.throws(() => executions.find(''), {
    code: 618,
    message: 'Authorization error. Missing authorization metadata',
  });
});

t.test('an execution has so many requests', async (t) => {
  const { executions } = opened();
  const token = executions.begin(execution);
  for (let i = 0; i < REQUESTS_PER_CALL_MAX; i++) executions.admit(token);
  t.throws(() => executions.admit(token), { code: 413 });
  t.throws(() => executions.admit('none'), { code: 622 });
});
