//! The words of a GOAL trace, with their lines.

use std::ops::RangeInclusive;

use super::{GoalError, shown};

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A keyword, label or number.
    Word(&'t [u8]),
    /// `:`
    Colon,
    /// `{`
    Open,
    /// `}`
    Close,
    /// The end of a line, or `;`.
    End,
    /// Nothing more.
    EndOfText,
}

/// Reads token by token; one is in hand.
pub(super) struct Words<'t> {
    file: &'t str,
    text: &'t [u8],
    at: usize,
    /// Line of what comes next.
    next_line: u32,
    line: u32,
    token: Token<'t>,
}

impl<'t> Words<'t> {
    pub fn new(file: &'t str, text: &'t [u8]) -> Result<Self, GoalError> {
        let mut words = Words { file, text, at: 0, next_line: 1, line: 1, token: Token::End };
        words.advance()?;
        Ok(words)
    }

    pub fn file(&self) -> &'t str {
        self.file
    }

    /// The token in hand.
    pub fn token(&self) -> Token<'t> {
        self.token
    }

    /// Its line.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Goes on to the next token.
    pub fn advance(&mut self) -> Result<(), GoalError> {
        self.skip_blanks_and_comments()?;
        self.line = self.next_line;
        let Some(&byte) = self.text.get(self.at) else {
            self.token = Token::EndOfText;
            return Ok(());
        };
        let single = match byte {
            b':' => Some(Token::Colon),
            b'{' => Some(Token::Open),
            b'}' => Some(Token::Close),
            b'\n' | b';' => Some(Token::End),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            self.next_line = self.next_line.saturating_add(u32::from(byte == b'\n'));
            self.token = token;
            return Ok(());
        }
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b":{};#".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        // A comment may follow a word without a blank.
        let comment = |pair: &[u8]| pair == b"//" || pair == b"/*";
        let length = rest[..length].windows(2).position(comment).unwrap_or(length);
        self.at += length;
        self.token = Token::Word(&rest[..length]);
        Ok(())
    }

    /// Passes over empty lines.
    pub fn skip_ends(&mut self) -> Result<(), GoalError> {
        while self.token == Token::End {
            self.advance()?;
        }
        Ok(())
    }

    /// Passes over `token`.
    pub fn take(&mut self, token: Token<'_>, allowed: &str) -> Result<(), GoalError> {
        if self.token == token { self.advance() } else { Err(self.expected(allowed)) }
    }

    /// Passes over the word `word`.
    pub fn take_word(&mut self, word: &str, allowed: &str) -> Result<(), GoalError> {
        self.take(Token::Word(word.as_bytes()), allowed)
    }

    /// Any word.
    pub fn take_any(&mut self, allowed: &str) -> Result<&'t [u8], GoalError> {
        match self.token {
            Token::Word(word) => self.advance().map(|()| word),
            _ => Err(self.expected(allowed)),
        }
    }

    /// A whole number.
    pub fn take_number(
        &mut self,
        range: RangeInclusive<u64>,
        allowed: &str,
    ) -> Result<u64, GoalError> {
        let Token::Word(word) = self.token else { return Err(self.expected(allowed)) };
        match number(word).filter(|number| range.contains(number)) {
            Some(number) => self.advance().map(|()| number),
            None => Err(self.expected(allowed)),
        }
    }

    /// A size, as `8b`.
    pub fn take_bytes(&mut self) -> Result<u64, GoalError> {
        let allowed = "a number of bytes and `b`, as in 8b";
        let Token::Word(word) = self.token else { return Err(self.expected(allowed)) };
        match word.strip_suffix(b"b").and_then(number) {
            Some(size) => self.advance().map(|()| size),
            None => Err(self.expected(allowed)),
        }
    }

    /// The error that the token in hand is none of what is allowed.
    pub fn expected(&self, allowed: &str) -> GoalError {
        let found = match self.token {
            Token::Word(word) => return self.expected_at(self.line, word, allowed),
            Token::Colon => "`:`",
            Token::Open => "`{`",
            Token::Close => "`}`",
            Token::End => "the end of the line",
            Token::EndOfText => "the end of the file",
        };
        self.error(self.line, found.to_owned(), allowed)
    }

    /// The error that a word is none of what is allowed.
    pub fn expected_at(&self, line: u32, word: &[u8], allowed: &str) -> GoalError {
        self.error(line, format!("`{}`", shown(word)), allowed)
    }

    fn error(&self, line: u32, found: String, allowed: &str) -> GoalError {
        GoalError::Syntax { file: self.file.to_owned(), line, found, allowed: allowed.to_owned() }
    }

    fn skip_blanks_and_comments(&mut self) -> Result<(), GoalError> {
        loop {
            let rest = &self.text[self.at..];
            match rest {
                [b'#', ..] | [b'/', b'/', ..] => {
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', after @ ..] => {
                    let Some(length) = after.windows(2).position(|pair| pair == b"*/") else {
                        let (line, found) = (self.next_line, "`/*`".to_owned());
                        return Err(self.error(line, found, "a comment that ends with `*/`"));
                    };
                    let lines = after[..length].iter().filter(|&&byte| byte == b'\n').count();
                    self.next_line = self.next_line.saturating_add(lines as u32);
                    self.at += length + 4;
                }
                [b'\n', ..] => return Ok(()),
                [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
                _ => return Ok(()),
            }
        }
    }
}

fn number(word: &[u8]) -> Option<u64> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| digits)?.parse().ok()
}
