/** `platform-node api-key hash` (node.md#tools, ApiKeyHash). */
import type { Command } from 'commander';
import { CliError } from '../terminal/exit.ts';
import { printJson } from '../terminal/output.ts';

interface Flags {
  json?: true;
  nationalCrypto?: true;
  out?: string;
}

export function register(command: Command): void {
  command
    .command('hash [source]')
    .description(
      'Print the hash of an API key. The source is a configuration file with the section ' +
        "apikeyhash-generator, the key itself, or '-' for a key on stdin.",
    )
    .option('--json', 'print an object')
    .option('--national-crypto', 'hash as with platform-crypto = no')
    .option('-o, --out <file>', 'write the two lines to a file too')
    .action(hash);
}

async function hash(source: string | undefined, flags: Flags): Promise<void> {
  if (source === undefined) throw new CliError("Give a configuration file, a key, or '-'");
  const { key, platformCrypto, out } = await keyFrom(source, flags);
  const { configuredFamily } = await import('../../crypto/families.ts');
  const { base58 } = await import('../../base/base58.ts');
  const family = configuredFamily(platformCrypto);
  const apiKeyHash = base58.encode(family.secureHash(new TextEncoder().encode(key)));
  const text = `Api key: ${key}\nApi key hash: ${apiKeyHash}\n`;
  if (flags.json === true) printJson({ apiKey: key, apiKeyHash });
  else process.stdout.write(text);
  if (out !== undefined) {
    const { files } = await import('../../adapters/files.ts');
    files.replace(out, new TextEncoder().encode(text), { secret: true });
  }
}

interface KeySource {
  readonly key: string;
  readonly platformCrypto: boolean;
  readonly out: string | undefined;
}

async function keyFrom(source: string, flags: Flags): Promise<KeySource> {
  const platformCrypto = flags.nationalCrypto !== true;
  if (source === '-') {
    const { readLines } = await import('../terminal/lines.ts');
    for await (const line of readLines('-')) return { key: line, platformCrypto, out: flags.out };
    throw new CliError('No API key on stdin');
  }
  const { files } = await import('../../adapters/files.ts');
  if (!files.exists(source)) return { key: source, platformCrypto, out: flags.out };

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
