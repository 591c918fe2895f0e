// Row R17 of the reliability goals: a node whose configuration or keystore is damaged does not
// start. It reports the error, names the file, and ends with a documented code, without a stack
// trace. DAMAGED_CASES sets how many damaged configurations there are, and a fifth as many
// keystores.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeDevFolder } from '../../bench/node/dev-folder.ts';
import { openNodeWallet, unlockOwner } from '../../src/cli/commands/keystore/open-wallet.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { EXIT } from '../../src/cli/terminal/exit.ts';
import { exitCodeFor } from '../../src/cli/terminal/failure.ts';
import { seededRandom } from '../crypto/random.ts';
import { run } from './run.ts';

const CASES = Number(process.env['DAMAGED_CASES'] ?? 50);
/** Opening one is deliberately slow. */
const KEYSTORES = Math.ceil(CASES / 5);
const MS_PER_CASE_MAX = 2000;
const START_MS_MAX = 120_000;
const STACK = /\n\s+at .+:\d+/;
const random = seededRandom('damage');
const below = (count: number): number => new DataView(random.bytes(4).buffer).getUint32(0) % count;

t.setTimeout(START_MS_MAX + 2 * CASES * MS_PER_CASE_MAX);
process.env['PLATFORM_NODE_OWNER_PASSWORD_EMPTY'] = 'true';

const dir = mkdtempSync(join(tmpdir(), 'damaged-'));
t.teardown(() => rmSync(dir, { recursive: true }));
const { config: file } = await makeDevFolder({ dir, roundMs: 1000, genesisTimestamp: 1.7e12 });
const sound = readFileSync(file, 'utf8');
const { config } = await loadConfig(file);
const wallet = readFileSync(config.wallet.file);

interface End {
  readonly code: number;
  readonly text: string;
}

/** What the command line makes of the failure; undefined where there is none. */
async function endOf(t: Test, start: () => Promise<unknown>): Promise<End | undefined> {
  const said = t.capture(console, 'error', () => {});
  try {
    await start();
    return undefined;
  } catch (cause) {
    const code = exitCodeFor(cause);
    return {
      code,
      text: said()
        .map(({ args }) => args.join(' '))
        .join('\n'),
    };
  } finally {
    said.restore();
  }
}

const JUNK = [
  '',
  '{',
  '}',
  '"',
  '=',
  ',',
  '[',
  '\0',
  'é',
  '\n',
  '-1',
  '1e99',
  'null',
  '$x',
  '"""',
  '#',
];

/** One change somewhere. */
function damaged(text: string): string {
  const at = below(text.length);
  const line = text.split('\n');
  const which = below(line.length);
  switch (below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + JUNK[below(JUNK.length)] + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at + 1 + below(40));
    case 3:
      return line
        .with(which, line[which]!.replace(/=.*/, `= ${JUNK[below(JUNK.length)]}`))
        .join('\n');
    default:
      return line.with(which, `${line[which]}\n${line[below(line.length)]}`).join('\n');
  }
}

t.test(`${CASES} damaged configurations`, async (t) => {
  let refused = 0;
  while (refused < CASES) {
    const text = damaged(sound);
    writeFileSync(file, text);
    const end = await endOf(t, async () => genesisBlock((await loadConfig(file)).config));
    // Not every change is a damage.
    if (end === undefined) continue;
    refused++;
    if (end.code !== EXIT.failure || end.text === '' || STACK.test(end.text)) {
      t.fail(`ended with ${end.code}`, { text, said: end.text });
    }
  }
  writeFileSync(file, sound);
  t.equal(await endOf(t, async () => genesisBlock((await loadConfig(file)).config)), undefined);
});

t.test(`${KEYSTORES} damaged keystores`, async (t) => {
  const unlock = async () => unlockOwner(config, await openNodeWallet(config));
  let refused = 0;
  for (let i = 0; i < KEYSTORES; i++) {
    const bytes = Buffer.from(wallet);
    const at = below(bytes.length);
    bytes[at]! ^= 1 << below(8);
    writeFileSync(config.wallet.file, i % 3 === 0 ? bytes.subarray(0, at) : bytes);
    const end = await endOf(t, unlock);
    // A bit of another account than the owner's is found when that one is used.
    if (end === undefined) continue;
    refused++;
    if (end.code !== EXIT.failure || end.text === '' || STACK.test(end.text)) {
      t.fail(`ended with ${end.code}`, { changed: at, said: end.text });
    }
  }
  t.ok(refused > KEYSTORES / 3, `${refused} of them could not be used`);
  writeFileSync(config.wallet.file, wallet);
  t.equal(await endOf(t, unlock), undefined);
});

t.test('a start with each of them', async (t) => {
  const env = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
  const fails = async (name: string, damagedFile: string, bytes: Uint8Array, good: Uint8Array) => {
    writeFileSync(damagedFile, bytes);
    const { code, stderr } = await run(['start', file], { env });
    writeFileSync(damagedFile, good);
    t.equal(code, EXIT.failure, name);
    t.notMatch(stderr, STACK, 'no stack trace');
    t.ok(stderr.includes(damagedFile), `names the file: ${stderr}`);
  };
  const text = Buffer.from(sound);
  await fails('half a configuration', file, text.subarray(0, text.length / 2), text);
  await fails('half a keystore', config.wallet.file, wallet.subarray(0, wallet.length / 2), wallet);
});
