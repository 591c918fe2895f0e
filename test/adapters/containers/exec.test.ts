/** The simple interface, with real containers: what scripts do and what the node makes of it. */
import t from 'tap';
import { containersWith } from '../../containers/api.ts';
import { sharedEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { called, opened, until } from './opened.ts';

const engine = await sharedEngine();
const reason = typeof engine === 'string' ? engine : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);

/** One image for all scripts: the transaction is the script. */
const SCRIPT = '#!/bin/sh\neval "$TX"\n';

t.test('what a script says', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, SCRIPT);
  const { containers, label } = await opened(t, engine);
  const call = (json: string, changes = {}) => called(containers, image, { json, ...changes });

  t.strictSame(await call('true'), { kind: 'success', results: [] });
  t.strictSame(await call('echo noise; echo "[]"; echo; echo "noise" >&2'), {
    kind: 'success',
    results: [],
  });
  const list = [
    '{"key":"a","type":"integer","value":9223372036854775807}',
    '{"key":"b","type":"boolean","value":true}',
    '{"key":"c","type":"binary","value":"base64:AQID"}',
    '{"key":"d","type":"string","value":"\\u0436"}',
  ];
  t.strictSame(await call(`cat <<'END'\n[${list.join(',')}]\nEND`), {
    kind: 'success',
    results: [
      { key: 'a', type: 'integer', value: 9223372036854775807n },
      { key: 'b', type: 'boolean', value: true },
      { key: 'c', type: 'binary', value: new Uint8Array([1, 2, 3]) },
      { key: 'd', type: 'string', value: 'ж' },
    ],
  });
  t.strictSame(await call('echo ignored; echo "too little money"; exit 3'), {
    kind: 'error',
    code: 3,
    message: 'too little money',
  });
  t.strictSame(await call('echo out; echo err >&2; exit 1'), {
    kind: 'error',
    code: 1,
    message: "Contract process was failed with code '1': out",
  });
  t.match(await call('exit 42'), { kind: 'error', code: 42 });
  t.match(await call('kill -9 $$'), { kind: 'error', code: 137 });
  for (const [line, what] of [
    ['Hello', 'as JSON'],
    ['{}', 'as results array'],
    ['[{"key":"a"}]', 'as results array'],
    ['[{"key":"a","type":"integer","value":9223372036854775808}]', 'as results array'],
    ['[{"key":"a","type":"binary","value":"base64:***"}]', 'as results array'],
    ['[[[[[]]]]]', 'as JSON'],
  ]) {
    t.strictSame(await call(`cat <<'END'\n${line}\nEND`), {
      kind: 'failure',
      message: `Can't parse and validate contract execution result '${line}' ${what}`,
      recoverable: false,
      system: false,
    });
  }
  t.equal((await containersWith(engine.socketPath, label)).length, 1, 'one container for all');
});

t.test('what a script is told', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(
    engine,
    [
      '#!/bin/sh',
      'length=$(printf %s "$TX" | wc -c)',
      'echo "[{\\"key\\":\\"$COMMAND $API_TOKEN $NODE\\",\\"type\\":\\"string\\",\\"value\\":\\"$length\\"}]"',
    ].join('\n'),
  );
  const { containers } = await opened(t, engine);
  const told = async (kind: 'create' | 'call', json: string) => {
    const outcome = await called(containers, image, { kind, json, token: 'secret' });
    return outcome.kind === 'success' ? outcome.results : outcome;
  };
  t.strictSame(await told('create', '"; exit 9; $(exit 9) `exit 9` \'\n'), [
    { key: 'CREATE secret ', type: 'string', value: '32' },
  ]);
  // 'TX=' and the text are the longest string that the kernel takes.
  t.strictSame(await told('call', 'x'.repeat(131_068)), [
    { key: 'CALL secret ', type: 'string', value: '131068' },
  ]);
  t.match(await told('call', 'x'.repeat(131_069)), {
    kind: 'failure',
    message: 'The transaction is too long for the environment of a process',
    recoverable: false,
  });
});

t.test('output at the limit, above it and without end', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, SCRIPT);
  const { containers, label } = await opened(t, engine);
  const call = (json: string) => called(containers, image, { json });
  const print = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' ' '`;
  // The line and its end are the last bytes of exactly one MiB.
  t.match(await call(`${print(1024 * 1024 - 4)}; echo; echo '[]'`), { kind: 'success' });
  t.match(await call(`${print(1024 * 1024 - 3)}; echo; echo '[]'`), {
    kind: 'failure',
    message: /printed more than 1048576 bytes/,
    recoverable: false,
  });
  const value = 'v'.repeat(900_000);
  t.match(
    await call(
      `printf '[{"key":"k","type":"string","value":"'; head -c 900000 /dev/zero | tr '\\0' v; echo '"}]'`,
    ),
    {
      kind: 'success',
      results: [{ key: 'k', value }],
    },
  );
  const [before] = await containersWith(engine.socketPath, label);
  t.match(await call('yes'), { kind: 'failure', message: /prints without end/ });
  await until(async () => (await containersWith(engine.socketPath, label)).length === 0);
  t.match(await call('true'), { kind: 'success' }, 'a new container takes its place');
  const [after] = await containersWith(engine.socketPath, label);
  t.not(after?.Id, before?.Id);
});

t.test('a script that never ends', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, SCRIPT);
  const { containers } = await opened(t, engine, { executionMs: 700 });
  const started = performance.now();
  t.strictSame(await called(containers, image, { json: 'sleep 1000', contractId: 'abc' }), {
    kind: 'failure',
    message: "Contract 'abc' execution timeout",
    recoverable: true,
    system: false,
  });
  t.ok(performance.now() - started < 6000);
  t.match(await called(containers, image, { json: 'true' }), { kind: 'success' });
});

t.test('a script that is not executable runs by the shell', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const files = { 'run.sh': { bytes: 'echo "[]"\n', mode: 0o644 } };
  const image = await simpleImage(engine, '', { files });
  const { containers } = await opened(t, engine);
  t.match(await called(containers, image), { kind: 'success' });
  t.match(await called(containers, image), { kind: 'success' });
});
