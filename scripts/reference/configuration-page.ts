/** docs/reference/configuration.md: the page of all settings, printed from their table. */
import { defaultText, otherSpellings, WITHOUT_EFFECT } from '../../src/node/config/document.ts';
import { allSettings } from '../../src/node/config/settings.ts';

export function configurationPage(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const rows = allSettings.map((one) => {
    const { key, env, setting } = one;
    const marks = [
      setting.network === true ? 'equal on all nodes' : '',
      setting.secret === true ? 'secret' : '',
      setting.ignored === true ? WITHOUT_EFFECT : '',
      ...otherSpellings(setting).map((spelling) => `also \`${spelling}\``),
    ].filter((mark) => mark !== '');
    const note = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
    const kind = setting.kind.name;
    const fallback = defaultText(setting).replace(/^default /, '');
    return `| \`${key}\` | ${cell(kind)} | ${cell(fallback)} | ${cell(setting.doc + note)} | \`${env}\` |`;
  });
  return `# Configuration

Generated from the table of settings (\`src/node/config\`); do not edit.

A configuration file is HOCON. Keys stand below \`node { … }\` or without it. A flag \`--set key=value\`
wins over the environment variable, that over the file, that over the default. A secret can also be
read from a file named by \`<key>-file\`. Settings that must be equal on all nodes enter the settings
hash that peers compare at the handshake. \`platform-node config check <file>\` reports all errors at once.

| Key | Value | Default | Meaning | Variable |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
