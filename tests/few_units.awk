# One source of several (tests/few_units.mk): behind the last #include of each a namespace with the file's name begins.
FNR == 1 && count { put() }
{ line[++count] = $0 }
/^#include/ { last = count }
END { if (count) put() }

function put(    i, name, file) {
    file = FILENAME_BEFORE
    name = file
    gsub(/[^A-Za-z0-9]/, "_", name)
    print "#line 1 \"" file "\""
    for (i = 1; i <= last; i++) print line[i]
    print "namespace " name " {\n#line " last + 1 " \"" file "\""
    for (; i <= count; i++) print line[i]
    print "}"
    count = last = 0
}
{ FILENAME_BEFORE = FILENAME }
