// The phrase in a file: the same account for every command that reads it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { seedPhrase } from '../../../../src/cli/commands/keystore/seed-phrase.ts';
import { jsonLines, run } from '../../run.ts';

t.test('one line that is not blank', async (t) => {
  const file = join(t.testdir({}), 'seed');
  const phraseOf = (text: string): Promise<string> => {
    writeFileSync(file, text);
    return seedPhrase(file);
  };
  for (const end of ['', '\n', '\r\n', '\n\n', '\n \n', '\r\n\r\n']) {
    t.equal(await phraseOf(`my phrase${end}`), 'my phrase', JSON.stringify(end));
  }
  t.equal(await phraseOf('\nmy phrase\n'), 'my phrase');
  t.equal(await phraseOf('\uFEFFmy phrase\r\n'), 'my phrase', 'a byte order mark is no part of it');
  const missing = join(file, 'x');
  await t.rejects(seedPhrase(missing), { name: 'CliError', message: /^Cannot read '/ });
  t.equal(await phraseOf(' my  phrase \n'), ' my  phrase ', 'spaces are a part of it');
  for (const text of ['', '\n', ' \n\n']) await t.rejects(phraseOf(text), /is empty/);
  await t.rejects(phraseOf('one\ntwo\n'), {
    message: `'${file}' has 2 lines: write one seed phrase, in one line, into it`,
  });
});

t.test('keystore derive and tx sign take the same account', async (t) => {
  const file = join(t.testdir({}), 'seed');
  const phrase = 'my phrase\n\n';
  writeFileSync(file, phrase);
  const derived = await run(['keystore', 'derive', '--chain-id', 'T'], { input: phrase });
  const [{ address, publicKey } = {}] = jsonLines(derived.stdout);
  const request = { type: 4, version: 2, recipient: address, amount: 1, fee: 1, timestamp: 1 };
  const signed = await run(['tx', 'sign', '--seed-file', file, '-c', 'T'], {
    input: JSON.stringify({ ...request, attachment: '' }),
  });
  t.equal(signed.code, 0, signed.stderr);
  t.match(jsonLines(signed.stdout), [{ sender: address, senderPublicKey: publicKey }]);
  const marked = await run(['keystore', 'derive', '--chain-id', 'T'], {
    input: `\uFEFF${phrase}`,
  });
  t.equal(marked.stdout, derived.stdout, 'with a byte order mark');
});
