export * from 'uws-pack' with { 'resolution-mode': 'import' };
