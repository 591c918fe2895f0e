/**
 * Asks a running node to reload its wallet after accounts were added (node.md#tools, decision 38:
 * reload-wallet from loopback).
 */
import { EXIT } from '../../terminal/exit.ts';
import { say } from '../../terminal/output.ts';
import type { ToolSection } from '../../tool-section.ts';

const PATIENCE_MS = 30_000;

/** Tells the result; a node that cannot be reached sets the exit code to 1. */
export async function reloadNodeWallet(
  section: ToolSection,
  tell: (line: string) => void,
): Promise<void> {
  const given = section.text('reload-node-wallet.url') ?? '';
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    say(
      "Looks like URL is wrong in config parameter 'accounts-generator.reload-node-wallet.url'" +
        `: '${given}'`,
    );
    process.exitCode = EXIT.failure;
    return;
  }
  tell(`Sending reload wallet request to URL : ${given}`);
  const apiKey = section.text('reload-node-wallet.api-key');
  // `fetch` is not used, because it refuses the ports that browsers block.
  const { undiciClient } = await import('../../../adapters/http/undici.ts');
  const http = undiciClient({ answerMsMax: PATIENCE_MS });
  try {
    const headers = apiKey === undefined ? {} : { 'X-Api-Key': apiKey };
    const { status, text } = await http.request({ method: 'POST', url: given, headers });
    tell(`Response Code : ${status}`);
    tell(text);
    if (status >= 300) process.exitCode = EXIT.failure;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    say(`Failed to connect to '${given}', because: ${reason}`);
    process.exitCode = EXIT.failure;
  } finally {
    await http.close();
  }
}
