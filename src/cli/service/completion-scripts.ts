/**
 * Holds the completion scripts for bash, zsh and fish (`SCRIPTS`). The scripts call `dirspace
 * completion` for the words that can stand at the cursor.
 */

const BASH = `# Completion of dirspace for bash.
_dirspace() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ':files' ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
      return
    fi
    COMPREPLY+=("$line")
  done < <(dirspace completion line -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [ "\${#COMPREPLY[@]}" -eq 1 ]; then
    case "\${COMPREPLY[0]}" in */) compopt -o nospace 2>/dev/null ;; esac
  fi
}
complete -F _dirspace dirspace
`;

const ZSH = `#compdef dirspace
# Completion of dirspace for zsh.
_dirspace() {
  local -a found
  found=("\${(@f)$(dirspace completion words -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$found[1]" == ':files' ]]; then
    _files
    return
  fi
  compadd -S '' -- \${(M)found:#*/}
  compadd -- \${found:#*/}
}
if [[ "$funcstack[1]" == '_dirspace' ]]; then
  _dirspace "$@"
else
  compdef _dirspace dirspace
fi
`;

const FISH = `# Completion of dirspace for fish.
function __dirspace_complete
    set -l typed (commandline -opc)
    set -l found (dirspace completion words -- $typed[2..-1] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = ':files'
        __fish_complete_path (commandline -ct)
        return
    end
    printf '%s\\n' $found
end
complete -c dirspace -f -a '(__dirspace_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
