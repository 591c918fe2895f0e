// How the samples of `perf` are sorted into parts (bench/measure/sampled-parts.ts).
import { test } from 'tap';
import { partsOf, REST } from '../../../bench/measure/sampled-parts.ts';

const PARTS = [
  ['wake', /sock_def_readable/],
  ['send', /sys_sendto/],
] as const;

test('the innermost frame that is known decides', async (t) => {
  const script = [
    '\tff1 _raw_spin_unlock ([kernel])\n\tff2 sock_def_readable ([kernel])\n\tff3 __x64_sys_sendto ([kernel])',
    '\tff1 tcp_ack ([kernel])\n\tff3 __x64_sys_sendto ([kernel])',
    '\tff1 tcp_ack ([kernel])\n\tff3 __x64_sys_sendto ([kernel])',
    '\t123 main (/bin/program)',
  ].join('\n\n');
  t.strictSame(partsOf(`${script}\n\n`, PARTS), [
    ['send', 0.5],
    ['wake', 0.25],
    [REST, 0.25],
  ]);
});

test('nothing was sampled', async (t) => {
  t.strictSame(partsOf('', PARTS), []);
});
