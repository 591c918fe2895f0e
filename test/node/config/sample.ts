// A small valid configuration, and a way to read texts as files.
import { parseHoconText } from '../../../src/adapters/hocon.ts';
import { ConfigError } from '../../../src/node/config/problems.ts';
import { type ConfigInput, type ConfigResult, readConfig } from '../../../src/node/config/read.ts';

export const OWNER = '3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz';
export const OWNER_KEY = '76psnbrVY3vQ6qMyKco4EWaaeZ8R21jtHC6miTE2BD9G';

/** The least a node needs. */
export const LEAST = `
owner-address = ${OWNER}
blockchain.custom.address-scheme-character = T
rest-api.bind-address = "127.0.0.1"
`;

export async function read(text: string, more: Partial<ConfigInput> = {}): Promise<ConfigResult> {
  return readConfig({
    file: 'node.conf',
    text,
    tree: await parseHoconText(text),
    env: {},
    sets: [],
    home: '/home/op',
    nonce: 42,
    readSecret: () => undefined,
    ...more,
  });
}

/** The problems of a text that must not be accepted. */
export async function problems(
  text: string,
  more: Partial<ConfigInput> = {},
): Promise<ConfigError> {
  try {
    await read(text, more);
  } catch (cause) {
    if (cause instanceof ConfigError) return cause;
    throw cause;
  }
  throw new Error('the configuration was accepted');
}
