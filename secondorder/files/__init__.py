"""Files: written whole or not at all, never over what is not ours, and read with their damage told.

``whole``     writing into a neighbour that is then renamed; links, modes, locks
``seals``     what a command puts into a file so that its own unchanged output is known again
``writing``   texts, JSON, arrays, figures
``folders``   directories of outputs, and the guard of everything that is about to be replaced
``reading``   one reader and one description of damage

**What may be replaced.** A file says itself who wrote it: it holds the words ``secondorder COMMAND
sha256:DIGITS``, a *seal*, and the digits are the SHA-256 of everything else in the file. A command
replaces a file only if the file has the command's own seal and the digits fit: then it is that
command's output and nobody has changed it since. Everything else stays, and is named: `replaceable`
refuses before any work is done. No list is kept beside the files, so none can be lost or go stale,
and a file may be moved with its seal. The seal stands in JSON as the last entry, in ``.npz`` as the
archive's comment, in ``.png`` as the text "Software", in ``.gz`` as the name of an empty last
member, in notebooks among the metadata, in Markdown as a comment. The pages of a book are too many
for seals of their own: the list that the book's folder holds has a digest a page.

The same seal is the checksum of saved networks, checkpoints and runs: a reader compares it first.
"""

from .folders import (output_directory, own_outputs, replaceable, user_cache_folder,
                      written_by)
from .reading import Damaged, damage_told, read_arrays, read_bytes, read_json
from .seals import intact, mark, sealed
from .whole import (TEMPORARY, atomic, exclusive, naming, one_writer, remove_stale, require_file,
                    require_writable, takes_files)
from .writing import (few_colours, to_json, write_arrays, write_between, write_bytes, write_figure,
                      write_json, write_packed, write_text)

__all__ = ["TEMPORARY", "Damaged", "atomic", "damage_told", "exclusive", "few_colours", "intact",
           "mark", "naming", "one_writer", "output_directory", "own_outputs", "read_arrays",
           "read_bytes", "read_json", "remove_stale", "replaceable", "require_file",
           "require_writable", "sealed", "takes_files", "to_json", "user_cache_folder",
           "write_arrays", "write_between", "write_bytes", "write_figure", "write_json",
           "write_packed", "write_text", "written_by"]
