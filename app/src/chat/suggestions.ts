/**
 * What can be asked without any key: shown as a sentence, sent as lines that the scripted model understands. A real model
 * understands them too.
 */
export const SUGGESTIONS = [
  { sentence: 'What is in my inbox?', text: '/list-emails {"limit":5}' },
  { sentence: 'Summarize the inbox', text: '/summarize-inbox {}' },
  { sentence: 'Open an email beside the chat', text: '/navigate {"view":"email","emailId":"e-8"}' },
  { sentence: 'Label the first email as urgent', text: '/label-email {"emailId":"e-1","add":["urgent"]}' },
  {
    sentence: 'Write to Ann (asks you first)',
    text: '/send-email {"to":"ann@example.com","subject":"Hello","body":"Hello Ann!\\n\\nAll mail of today is answered."}',
  },
]

/** The sentence behind lines that somebody else may not read easily. */
export const sentenceOf = (text: string) => SUGGESTIONS.find((suggestion) => suggestion.text === text)?.sentence
