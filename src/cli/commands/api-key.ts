/** `platform-node api-key generate|hash` (node.md#tools, ApiKeyHash). */
import { type Command, Option } from 'commander';
import { CliError, EXIT } from '../terminal/exit.ts';
import { AS_BEFORE, printJson, warn } from '../terminal/output.ts';

interface Flags {
  nationalCrypto?: true;
  out?: string;
  asBefore?: true;
}

/** Of a random key: nobody tries all of them. */
const KEY_BYTES = 32;
/** Shorter keys can be found by trying, by whoever reads the hash. */
const KEY_CHARACTERS_MIN = 16;

export function register(command: Command): void {
  command
    .command('generate')
    .description(
      'Print a new API key and its hash. The configuration takes the hash; the key is for the client ' +
        'and is shown this once.',
    )
    .option('--national-crypto', 'hash as with platform-crypto = no')
    .action(generate);
  command
    .command('hash [source]')
    .description(
      'Print the hash of an API key. The source is a configuration file with the section ' +
        "apikeyhash-generator, or '-' for a key on stdin; without it a console is asked. A key that " +
        'is given as the source itself stays in the history of the shell.',
    )
    .option('--national-crypto', 'hash as with platform-crypto = no')
    .option('-o, --out <file>', 'write the hash to a file too')
    .addOption(new Option(AS_BEFORE).hideHelp())
    .action(hash);
}

async function generate(flags: Flags): Promise<void> {
  const { systemRandom } = await import('../../adapters/system.ts');
  const { base58 } = await import('../../base/base58.ts');
  const apiKey = base58.encode(systemRandom.bytes(KEY_BYTES));
  printJson({ apiKey, apiKeyHash: await hashOf(apiKey, flags.nationalCrypto !== true) });
}

async function hash(source: string | undefined, flags: Flags): Promise<void> {
  const { key, platformCrypto, out } = await keyFrom(source, flags);
  if (key.length < KEY_CHARACTERS_MIN) {
    const text =
      `The key has ${key.length} characters, and fewer than ${KEY_CHARACTERS_MIN} can be found by ` +
      'trying: platform-node api-key generate makes a good one';
    if (flags.asBefore !== true) throw new CliError(text);
    warn(text);
  }
  const apiKeyHash = await hashOf(key, platformCrypto);
  const text = flags.asBefore === true ? `Api key: ${key}\nApi key hash: ${apiKeyHash}\n` : '';
  if (text === '') printJson({ apiKeyHash });
  else process.stdout.write(text);
  if (out === undefined) return;
  const { files } = await import('../../adapters/files.ts');
  files.replace(out, new TextEncoder().encode(text || `${apiKeyHash}\n`), { secret: true });
}

async function hashOf(key: string, platformCrypto: boolean): Promise<string> {
  const { configuredFamily } = await import('../../crypto/families.ts');
  const { base58 } = await import('../../base/base58.ts');
  const family = configuredFamily(platformCrypto);
  return base58.encode(family.secureHash(new TextEncoder().encode(key)));
}

interface KeySource {
  readonly key: string;
  readonly platformCrypto: boolean;
  readonly out: string | undefined;
}

/** The hash of a misspelt path would let in who guesses it. */
function requireNoPath(source: string): void {
  if (!source.includes('/') && !source.endsWith('.conf')) return;
  throw new CliError(
    `'${source}' does not exist: correct the path of the configuration file. A key that looks like a path goes to stdin: ` +
      'platform-node api-key hash -',
  );
}

async function keyFrom(source: string | undefined, flags: Flags): Promise<KeySource> {
  const platformCrypto = flags.nationalCrypto !== true;
  if (source === undefined) {
    const { askHidden } = await import('../terminal/prompt.ts');
    const key = await askHidden('API key > ');
    if (key !== undefined) return { key, platformCrypto, out: flags.out };
    throw new CliError("Give a configuration file, or '-' for a key on stdin", EXIT.usage);
  }
  if (source === '-') {
    const { readLines } = await import('../terminal/lines.ts');
    for await (const line of readLines('-')) return { key: line, platformCrypto, out: flags.out };
    throw new CliError('No API key on stdin');
  }
  const { files } = await import('../../adapters/files.ts');
  if (!files.exists(source)) {
    requireNoPath(source);
    return { key: source, platformCrypto, out: flags.out };
  }

  const { readConfigFile } = await import('../config-file.ts');
  const { toolSection } = await import('../tool-section.ts');
  const section = toolSection((await readConfigFile(source)).tree, 'apikeyhash-generator');
  const key = section.text('api-key');
  if (key === undefined) {
    throw new CliError(`${source}: apikeyhash-generator.api-key is missing: write api-key = "…"`);
  }
  return {
    key,
    platformCrypto: section.platformCrypto() && platformCrypto,
    out: flags.out ?? section.text('file'),
  };
}
