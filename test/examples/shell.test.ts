// The script of the shell example, run as the node runs it: variables in, the last line out.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const script = join(import.meta.dirname, '../../examples/shell/run.sh');

function execute(
  command: string,
  params: readonly object[],
): { code: number | null; line: string } {
  const tx = JSON.stringify({ type: command === 'CREATE' ? 103 : 104, params });
  const { status, stdout } = spawnSync('sh', [script], {
    env: { PATH: process.env['PATH'], COMMAND: command, TX: tx },
    encoding: 'utf8',
  });
  return { code: status, line: stdout.trim().split('\n').at(-1)! };
}

const integer = (value: number) => ({ key: 'n', type: 'integer', value });
const sum = (value: number) => ({
  code: 0,
  line: JSON.stringify([{ key: 'sum', type: 'integer', value }]),
});

t.test('the sum of a call', async (t) => {
  t.strictSame(execute('CREATE', []), sum(0));
  t.strictSame(execute('CALL', [integer(5), integer(-7), integer(0)]), sum(-2));
  const quoting = '"type":"integer","value":7';
  t.strictSame(execute('CALL', [{ key: 'n', type: 'string', value: quoting }, integer(1)]), sum(1));
});

t.test('what it refuses', async (t) => {
  t.strictSame(execute('CALL', []), { code: 3, line: 'a call needs integer parameters' });
  t.match(execute('CALL', [integer(2 ** 62)]), { code: 3, line: /has too many digits/ });
  t.match(execute('UPDATE', []), { code: 3, line: 'unknown command UPDATE' });
});
